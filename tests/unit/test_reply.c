#include "codec/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static struct rl_reply_reader *reader;
static char seen[16384]; /* the replies read so far, in a notation of their own */
static size_t seen_size;

static void setup(void)
{
    reader = rl_reply_reader_create();
    ck_assert_ptr_nonnull(reader);
    seen_size = 0;
    seen[0] = '\0';
}

static void teardown(void)
{
    rl_reply_reader_destroy(reader);
}

static void note(const char *text, size_t size)
{
    ck_assert_uint_lt(seen_size + size, sizeof seen);
    memcpy(seen + seen_size, text, size);
    seen_size += size;
    seen[seen_size] = '\0';
}

static void note_item(const struct rl_reply_item *item)
{
    char number[32];

    switch (item->type) {
    case RL_REPLY_NIL:
        note("nil", 3);
        break;
    case RL_REPLY_INTEGER:
        note(number, (size_t)snprintf(number, sizeof number, ":%lld", (long long)item->integer));
        break;
    default:
        note(item->type == RL_REPLY_STATUS ? "+" : item->type == RL_REPLY_ERROR ? "-" : "$", 1);
        note(item->text.data, item->text.size);
    }
    note(" ", 1);
}

static void note_reply(const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_ARRAY) {
        note_item(&reply->root);
        return;
    }
    note("[ ", 2);
    for (size_t i = 0; i < reply->n_elements; i++)
        note_item(&reply->elements[i]);
    note("] ", 2);
}

/* Feeds and notes everything that is complete; false after an error. */
static bool feed(const char *bytes, size_t size)
{
    struct rl_reply reply;
    enum rl_read_result result;

    if (!rl_reply_reader_feed(reader, bytes, size))
        return false;
    while ((result = rl_reply_reader_next(reader, &reply)) == RL_READ_REPLY)
        note_reply(&reply);
    return result == RL_READ_MORE;
}

static bool feed_text(const char *text)
{
    return feed(text, strlen(text));
}

static const char stream[] = "+OK\r\n$-1\r\n:-12\r\n$5\r\nhello\r\n$0\r\n\r\n-ERR no\r\n*-1\r\n*0\r\n"
                             "*5\r\n+a\r\n:7\r\n$-1\r\n-E\r\n$3\r\nx\r\n\r\n+PONG\r\n";
static const char stream_replies[] = "+OK nil :-12 $hello $ -ERR no nil [ ] [ +a :7 nil -E $x\r\n ] +PONG ";

GROUP(tc, "reader", setup, teardown)

TEST(tc, a_stream_is_read_the_same_wherever_it_is_split)
{
    for (size_t split = 0; split < sizeof stream; split++) {
        teardown();
        setup();
        ck_assert(feed(stream, split));
        ck_assert(feed(stream + split, sizeof stream - 1 - split));
        ck_assert_str_eq(seen, stream_replies);
    }
}

TEST(tc, a_stream_is_read_the_same_byte_by_byte)
{
    for (size_t i = 0; i < sizeof stream - 1; i++)
        ck_assert(feed(stream + i, 1));
    ck_assert_str_eq(seen, stream_replies);
}

/* hiredis discards consumed input before it hands out the reply: the text must not be looked for there. */
TEST(tc, a_text_survives_that_the_input_is_discarded)
{
    char text[3000];
    char bytes[3100];
    struct rl_reply reply;
    int n;

    memset(text, 'x', sizeof text);
    n = snprintf(bytes, sizeof bytes, "*2\r\n$3\r\nabc\r\n$2000\r\n%.2000s\r\n", text);
    ck_assert(rl_reply_reader_feed(reader, bytes, (size_t)n));
    ck_assert(rl_reply_reader_feed(reader, "+NEXT\r\n", 7));
    ck_assert_int_eq(rl_reply_reader_next(reader, &reply), RL_READ_REPLY);
    ck_assert_mem_eq(reply.elements[0].text.data, "abc", 3);
    ck_assert_uint_eq(reply.elements[1].text.size, 2000);
    ck_assert_mem_eq(reply.elements[1].text.data, text, 2000);
}

TEST(tc, many_replies_in_one_piece_come_out_in_order)
{
    char bytes[40000];
    size_t size = 0;
    struct rl_reply reply;

    for (int i = 0; i < 3000; i++)
        size += (size_t)snprintf(bytes + size, sizeof bytes - size, ":%d\r\n", i);
    ck_assert(rl_reply_reader_feed(reader, bytes, size));
    for (int i = 0; i < 3000; i++) {
        ck_assert_int_eq(rl_reply_reader_next(reader, &reply), RL_READ_REPLY);
        ck_assert_int_eq(reply.root.integer, i);
    }
    ck_assert_int_eq(rl_reply_reader_next(reader, &reply), RL_READ_MORE);
}

static const char *const garbage[] = {
    "HTTP/1.1 400 Bad Request\r\n", "OK\r\n", "\r\n", ":12x\r\n", ":\r\n", "$abc\r\n", "$-2\r\nxx\r\n", "*-7\r\n",
    "*1x\r\n", "*1\r\nx\r\n", "\1\2\3\4",
    /* RESP3 */
    "_\r\n", "#t\r\n", ",1.5\r\n", "(123\r\n", "%1\r\n+a\r\n:1\r\n", "~1\r\n:1\r\n", ">1\r\n:1\r\n",
    "=7\r\ntxt:abc\r\n", "|1\r\n+a\r\n:1\r\n",
    /* nesting */
    "*1\r\n*1\r\n:1\r\n", "*1\r\n*0\r\n", "*2\r\n:1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
    /* length */
    "*25\r\n:1\r\n", "*2147483647\r\n", "*4294967297\r\n:1\r\n", "*9223372036854775807\r\n",
    "$99999999999999999999\r\n",
};

TESTS(tc, what_is_not_a_flat_resp2_reply_is_an_error_that_stays, 0, sizeof garbage / sizeof garbage[0])
{
    ck_assert(!feed_text(garbage[_i]));
    ck_assert_uint_gt(strlen(rl_reply_reader_error(reader)), 0);
    ck_assert(!feed_text("+OK\r\n"));
    ck_assert_str_eq(seen, "");
}

TEST(tc, as_many_elements_are_allowed_as_join_answers)
{
    ck_assert(feed_text("*24\r\n"));
    for (int i = 0; i < 24; i++)
        ck_assert(feed_text(":1\r\n"));
    ck_assert_str_eq(seen, "[ :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 :1 ] ");
}

/* Feeds 4 KiB pieces of x until it is refused; how much that took. */
static size_t bytes_until_refused(void)
{
    static const size_t enough = 4 * RL_REPLY_MAX_BYTES;
    char piece[4096];
    size_t total = 0;

    memset(piece, 'x', sizeof piece);
    while (total < enough && feed(piece, sizeof piece))
        total += sizeof piece;
    ck_assert_uint_lt(total, enough);
    return total;
}

TESTS(tc, a_reply_over_the_limit_is_refused_before_it_is_complete, 0, 5)
{
    static const char *const starts[] = {"$1000000000\r\n", "+", "-", "*2\r\n$1000000\r\n", "*"};

    feed_text(starts[_i]);
    ck_assert_uint_le(bytes_until_refused(), RL_REPLY_MAX_BYTES);
    ck_assert_uint_gt(strlen(rl_reply_reader_error(reader)), 0);
}

TEST(tc, the_limit_holds_for_the_elements_together)
{
    static char element[100000];

    memset(element, 'x', sizeof element);
    ck_assert(feed_text("*16\r\n"));
    for (int i = 0; i < 2; i++)
        ck_assert(feed_text("$100000\r\n") && feed(element, sizeof element) && feed_text("\r\n"));
    feed_text("$100000\r\n");
    ck_assert(!feed(element, sizeof element) || !feed_text("\r\n"));
}

TESTS(tc, random_bytes_never_do_more_than_fail, 1, 5)
{
    static const char alphabet[] = "+-:$*\r\n0123456789-x_#%>~";

    srand((unsigned)_i);
    for (int round = 0; round < 2000; round++) {
        teardown();
        setup();
        for (int i = 0; i < 40; i++) {
            char byte = alphabet[(size_t)rand() % (sizeof alphabet - 1)];

            if (!feed(&byte, 1))
                break;
        }
    }
}

SUITE("reply")
