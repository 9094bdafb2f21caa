/* What `redlock run --help` teaches. */
#include "cli/run/options.h"

static const char options_help[] =
    "Usage: redlock run KEY [OPTION...] -- COMMAND [ARGUMENT...]\n"
    "       redlock run --key KEY [OPTION...] COMMAND [ARGUMENT...]\n"
    "\n"
    "Takes the lock on KEY, renews it while COMMAND runs, and releases it when that\n"
    "and all that it has started have ended. If the lock cannot be kept, these are\n"
    "ended before anybody else can take it.\n"
    "\n"
    "  -k, --key KEY        the lock; commands with the same key exclude each other;\n"
    "                       if given several times, all of them together or none\n"
    "  -t, --ttl DUR        how long the lock outlives a crash (30s)\n"
    "  -w, --wait DUR       how long to try (0: one attempt), or 'forever'\n"
    "  --hold-at-least DUR  keep the lock for so long, also if COMMAND, or the\n"
    "                       machine, ends earlier; the ttl is at least that\n"
    "  --on-busy fail|skip  if another has the lock: exit with 124 (fail), or with 0\n"
    "                       and without a message (skip)\n"
    "  --busy-exit-code N   if another has the lock: exit with N\n"
    "  --on-lost WHAT       what to do when the lock cannot be kept:\n"
    "                         term        SIGTERM, then SIGKILL at the end (default)\n"
    "                         kill        SIGKILL without a warning\n"
    "                         signal=SIG  SIG instead of SIGTERM\n"
    "                         exec=CMD    'sh -c CMD' instead of SIGTERM, or beside\n"
    "                                     SIGKILL if there is no time for a warning\n"
    "                         ignore      nothing: COMMAND must ask 'redlock check'\n"
    "  --kill-after DUR     time from the warning to the end of the lock, less than\n"
    "                       half of the ttl (ttl / 6); 0: no warning\n"
    "  --kill-margin DUR    time from SIGKILL to the end of the lock, so that it is\n"
    "                       delivered in time (ttl / 20, 20ms to 1s)\n"
    "  --leftovers WHAT     what COMMAND has started, when it has ended itself:\n"
    "                         wait   keep the lock until they have ended (default)\n"
    "                         end    SIGTERM, then SIGKILL --kill-after later\n"
    "                         leave  release the lock, and let them go on\n"
    "  --no-renew           never renew: the lock and COMMAND end after one ttl\n"
    "  --permits N/K        take N of the K permits of KEY instead, all or none: with\n"
    "                       1/K, K commands run at a time. The permits' numbers,\n"
    "                       0 to K - 1, are in REDLOCK_SLOT\n"
    "  --shared             share the lock with others that say so, too; nobody else\n"
    "                       has it meanwhile\n"
    "  --fence              take a fencing token, and put it in REDLOCK_FENCE\n"
    "  --lock-file FILE     keep FILE as JSON up to date while the lock is held: see\n"
    "                       'redlock check'; removed at the end\n"
    "  --metrics-file FILE  keep FILE up to date for Prometheus's node_exporter\n"
    "  --notify command     leave READY=1 to COMMAND: see sd_notify(3)\n"
    "  --foreground         leave COMMAND in this process group in any case\n"
    "  --status             tell when the lock is taken, at risk, lost and given up\n"
    "  -v, --verbose        ... and each renewal\n"
    "  -q, --quiet          errors only\n"
    "  -j, --json           messages as lines of JSON\n"
    CLI_LABEL_HELP CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "\n";

static const char command_help[] =
    "\n"
    "Without --key, '--' must stand before COMMAND. No shell is involved. COMMAND has\n"
    "REDLOCK_KEY (or _KEYS), _TOKEN, _TTL_MS, _VALID_UNTIL, _NODES_OK, _FENCE, _SLOT\n"
    "and _LOCK_FILE in its environment, and gets the signals that this process gets:\n"
    "see redlock(1).\n"
    "\n"
    "Exit status: that of the command; 128 + N if it was ended by signal N;\n"
    "  121 the key is another program's       125 redlock's own error\n"
    "  122 no quorum of masters can vote      126 COMMAND cannot be executed\n"
    "  123 the lock was lost                  127 COMMAND was not found\n"
    "  124 another has the lock\n"
    "\n"
    "Examples:\n"
    "  redlock run nightly --on-busy skip --hold-at-least 1m -- ./nightly.sh --all\n"
    "  redlock run -k deploy -w forever --fence ./deploy.sh production\n";

/* A single literal would be longer than C11 promises to take. */
void run_write_help(FILE *out)
{
    fputs(options_help, out);
    fputs(CLI_COMMON_HELP, out);
    fputs(command_help, out);
}
