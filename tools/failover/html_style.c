#include "html.h"

/* Light and dark by the reader's own setting; on paper always light. */
static const char colors[] =
    ":root{--bg:#f4f6f9;--card:#fff;--ink:#18212f;--soft:#5a6678;--line:#dfe4ec;--grid:#e8ecf2;--blue:#2f6fb3;"
    "--blue-soft:#a9c8e8;--deep:#15406e;--red:#cf3f45;--amber:#e0982b;--amber-soft:rgba(232,160,48,.17);"
    "--green:#2f9461;--green-soft:#a8d8bd;--violet:#8667c9;--dark:#4a5261;--rose:#c2608a;--teal:#3d9aa1;"
    "--h0:#2f6fb3;--h1:#e08a2e;--h2:#3f9d6d;--h3:#9a63b8;--h4:#cf5a62;--h5:#4aa3ad;--h6:#a58340;--h7:#6b7790}"
    "@media(prefers-color-scheme:dark){:root{--bg:#11161e;--card:#1a212c;--ink:#e6ebf3;--soft:#98a4b6;--line:#2c3644;"
    "--grid:#263040;--blue:#6aa9e6;--blue-soft:#2c5580;--deep:#b9dcff;--red:#f0747a;--amber:#edb04e;"
    "--amber-soft:rgba(237,176,78,.16);--green:#5fc795;--green-soft:#2f6b4d;--violet:#a890e6;--dark:#7d899b;"
    "--rose:#de86ab;--teal:#67bcc4;--h0:#6aa9e6;--h1:#eda455;--h2:#64c294;--h3:#bd8bd8;--h4:#ec8289;--h5:#72c4cd;"
    "--h6:#c8a868;--h7:#96a2ba}}"
    "@media print{:root{--bg:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;--grid:#e4e4e4;--blue:#2f6fb3;"
    "--blue-soft:#a9c8e8;--deep:#15406e;--red:#b8262c;--amber:#d08412;--amber-soft:rgba(232,160,48,.2);"
    "--green:#23804f;--green-soft:#a8d8bd;--violet:#8667c9;--dark:#4a5261;--rose:#c2608a;--teal:#3d9aa1;"
    "--h0:#2f6fb3;--h1:#e08a2e;--h2:#3f9d6d;--h3:#9a63b8;--h4:#cf5a62;--h5:#4aa3ad;--h6:#a58340;--h7:#6b7790}}";

static const char layout[] =
    "*{box-sizing:border-box}"
    "html{-webkit-text-size-adjust:100%}"
    "body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,"
    "'Helvetica Neue',Arial,sans-serif;font-variant-numeric:tabular-nums}"
    "main{max-width:1080px;margin:0 auto;padding:28px 20px 48px}"
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.01em}"
    "h2{font-size:1.2rem;line-height:1.25;margin:0}h3{font-size:.95rem;margin:1.4rem 0 .5rem}"
    "p{margin:.4rem 0}a{color:inherit;text-decoration-color:var(--blue);text-underline-offset:2px}"
    ".soft{color:var(--soft)}.small{font-size:.85rem}"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px 20px;margin:16px 0}"
    ".tiles{display:grid;grid-template-columns:repeat(5,1fr);gap:10px;margin:20px 0 6px}"
    ".tile{background:var(--card);border:1px solid var(--line);border-top:4px solid var(--green);border-radius:10px;"
    "padding:10px 12px 12px}"
    ".tile b{display:block;font-size:2rem;line-height:1.15;color:var(--green)}"
    ".tile span{display:block;font-size:.84rem;line-height:1.3;color:var(--soft)}"
    ".tile.bad{border-top-color:var(--red)}.tile.bad b{color:var(--red)}"
    ".chip{display:inline-block;font-size:.78rem;font-weight:600;line-height:1;padding:.32em .6em;border-radius:99px;"
    "border:1px solid currentColor;white-space:nowrap}"
    ".chip.good{color:var(--green)}.chip.bad{color:var(--red)}.chip.so-so{color:var(--amber)}"
    ".chip.none{color:var(--soft)}"
    ".alarm{color:var(--red);border-left:4px solid var(--red);padding:2px 0 2px 10px}"
    ".head{display:flex;gap:10px;align-items:center;flex-wrap:wrap}"
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(116px,1fr));gap:8px 18px;margin:14px 0 16px}"
    ".facts div{border-left:3px solid var(--line);padding-left:9px}"
    ".facts b{display:block;font-size:1.12rem;line-height:1.25}.facts span{font-size:.8rem;color:var(--soft);"
    "display:block;line-height:1.3}";

static const char tables[] =
    "table{border-collapse:collapse;width:100%;font-size:.87rem}"
    "th,td{text-align:right;padding:6px 8px;border-bottom:1px solid var(--line);vertical-align:baseline}"
    "th{font-weight:600;color:var(--soft);font-size:.8rem;line-height:1.25}"
    "th:first-child,td:first-child{text-align:left}tr:last-child td{border-bottom:0}"
    "td b{font-weight:600}td{white-space:nowrap}td.wrap{white-space:normal}"
    ".env{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;font-size:.88rem;margin:0}"
    ".env dt{color:var(--soft)}.env dd{margin:0;overflow-wrap:anywhere}";

static const char pictures[] =
    ".row{display:grid;grid-template-columns:58px 1fr;align-items:stretch;gap:0 8px}"
    ".lab{position:relative;font-size:.72rem;line-height:1.1;color:var(--soft);text-align:right;white-space:nowrap}"
    ".lab i{position:absolute;right:0;font-style:normal;transform:translateY(-50%)}"
    ".lab.mid{display:flex;align-items:center;justify-content:flex-end}"
    ".cap{font-size:.8rem;color:var(--soft);margin:12px 0 3px 66px;line-height:1.35}"
    ".cap b{color:var(--ink);font-weight:600}"
    "svg{display:block;width:100%;overflow:visible}"
    ".grid{stroke:var(--grid);stroke-width:1;shape-rendering:crispEdges}"
    ".band{fill:var(--amber-soft)}.edge{stroke:var(--amber);stroke-width:1;stroke-dasharray:3 3;"
    "vector-effect:non-scaling-stroke}"
    ".ok{fill:var(--blue-soft);stroke:var(--blue)}.no{fill:var(--red);opacity:.75}"
    ".want{fill:none;stroke:var(--soft);stroke-dasharray:2 3}"
    ".p50{fill:none;stroke:var(--blue);stroke-width:1.8}.p99{fill:none;stroke:var(--deep);stroke-width:1}"
    ".dot{fill:var(--amber)}"
    ".ok,.want,.p50,.p99{vector-effect:non-scaling-stroke}"
    ".up{fill:var(--green-soft)}.down{fill:var(--dark)}.hung{fill:var(--amber)}.quarantine{fill:var(--violet)}"
    ".cut{fill:var(--rose)}.slow{fill:var(--teal)}.mute{fill:var(--rose)}.clock{fill:var(--green-soft)}"
    ".step{stroke:var(--red);stroke-width:2}"
    ".h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--h5)}"
    ".h6{fill:var(--h6)}.h7{fill:var(--h7)}.base{fill:var(--grid)}"
    ".end{stroke:var(--red);stroke-width:2}"
    ".tick{font-size:11px;fill:var(--soft)}.bar{fill:var(--blue)}.bar.bad{fill:var(--red)}.bar.so-so{fill:var(--amber)}"
    ".limit{stroke:var(--green);stroke-width:1.5;stroke-dasharray:4 3}"
    ".key{display:flex;flex-wrap:wrap;gap:3px 14px;font-size:.78rem;color:var(--soft);margin:8px 0 0 66px}"
    ".key svg{display:inline-block;width:12px;height:12px;vertical-align:-1px;margin-right:5px}"
    ".over{display:grid;grid-template-columns:118px 1fr 78px;gap:5px 10px;align-items:center;font-size:.85rem}"
    ".over>span:nth-child(3n){text-align:right}";

static const char small[] =
    "@media(max-width:700px){main{padding:18px 12px 32px}h1{font-size:1.45rem}"
    ".card{padding:14px 12px;border-radius:10px}"
    ".tiles{grid-template-columns:repeat(6,1fr);gap:8px}.tile{grid-column:span 3}.tile:nth-child(5){grid-column:span 6}"
    ".tile b{font-size:1.6rem}"
    ".row{grid-template-columns:44px 1fr;gap:0 6px}.cap,.key{margin-left:0}"
    ".facts{grid-template-columns:1fr 1fr}.more{display:none}"
    ".env{grid-template-columns:1fr}.env dt{margin-top:6px}"
    ".over{grid-template-columns:104px 1fr 62px;gap:5px 7px;font-size:.8rem}"
    ".fold thead{display:none}.fold tr{display:grid;grid-template-columns:1fr 1fr;gap:2px 14px;padding:10px 0;"
    "border-bottom:1px solid var(--line)}.fold tr:last-child{border-bottom:0}"
    ".fold td{border:0;padding:1px 0;display:flex;justify-content:space-between;gap:8px;text-align:right}"
    ".fold td:first-child{grid-column:1/-1;font-size:.95rem;align-items:center}"
    ".fold td[data-l]::before{content:attr(data-l);color:var(--soft);text-align:left}}"
    "@media print{@page{margin:12mm}html{font-size:11px}body{font-size:10px;line-height:1.35}"
    "main{max-width:none;padding:0}.card{border-radius:0;border-color:#ccc;break-inside:avoid;margin:8px 0;"
    "padding:8px 12px}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}a{text-decoration:none}"
    "th,td{padding:2px 6px}h3{margin:.8rem 0 .2rem}.facts{margin:6px 0 8px;gap:4px 10px;"
    "grid-template-columns:repeat(auto-fit,minmax(84px,1fr))}.cap{margin-top:7px}"
    ".over{grid-template-columns:100px 1fr 60px;gap:2px 8px}}";

void fo_html_style(FILE *out)
{
    fputs("<style>", out);
    fputs(colors, out);
    fputs(layout, out);
    fputs(tables, out);
    fputs(pictures, out);
    fputs(small, out);
    fputs("</style>\n", out);
}
