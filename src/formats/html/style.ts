/** The style of a page: for screens of any width, light and dark, and for paper. */
export const STYLE = `
:root{color-scheme:light dark;--page:#f6f7f8;--card:#fff;--text:#1b2026;--dim:#59636e;--line:#dfe3e8;--good:#177245;--bad:#b8232b;--warn:#855300;--active:#0a5bb5;--badcard:#fdf3f3;--ready:#8a94a0}
@media (prefers-color-scheme:dark){:root{--page:#0f1216;--card:#171b21;--text:#e4e7eb;--dim:#98a3ae;--line:#2b323b;--good:#62cf90;--bad:#ff8a87;--warn:#e6b450;--active:#74b4ff;--badcard:#241a1d;--ready:#7d8894}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:76rem;padding:1.5rem 1.25rem 3rem;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
h1,h2,h3{line-height:1.25;margin:0}
h1{font-size:1.5rem;font-weight:650;letter-spacing:-.01em}
article>header h2{font-size:1.3rem}
section>h2,section>h3{font-size:1rem;font-weight:650;margin:0 0 .75rem}
header.top{margin:0 0 1.25rem}
header.top p{margin:.4rem 0 0}
article+article{margin-top:3rem;padding-top:2rem;border-top:2px solid var(--line)}
article>header{margin:0 0 1.25rem}
.status{display:inline-block;margin:.5rem .5rem 0 0;padding:.15rem .7rem;border:1px solid currentColor;border-radius:1rem;font-weight:600}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem 1.1rem 1.1rem;margin:0 0 1rem}
section.failed{background:var(--badcard);border-color:var(--bad)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.7rem 1.5rem;margin:0}
dt{color:var(--dim);font-size:.8rem}
dd{margin:0}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}.active{color:var(--active)}.dim{color:var(--dim)}.strong{font-weight:650}
.note{color:var(--dim);margin:.5rem 0 0;font-size:.87rem}
code,pre,.tree,.id{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
code{background:var(--page);border:1px solid var(--line);border-radius:.3rem;padding:.1rem .35rem}
pre{margin:.35rem 0 0;padding:.6rem .75rem;white-space:pre-wrap;background:var(--page);border:1px solid var(--line);border-radius:.4rem}
.list{list-style:none;margin:0;padding:0}
.list>li{padding:.65rem 0;border-top:1px solid var(--line)}
.list>li:first-child{border-top:0;padding-top:0}
.list>li:last-child{padding-bottom:0}
.failed .list>li{border-color:var(--bad)}
.failed pre{background:var(--card)}
nav ol{margin:0;padding-left:1.6rem}
a{color:var(--active)}
.scroll{overflow-x:auto;margin:0 -.25rem;padding:0 .25rem}
.scroll:focus-visible{outline:2px solid var(--active);outline-offset:2px;border-radius:.3rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.4rem 1rem .4rem 0;border-top:1px solid var(--line);overflow-wrap:break-word;min-width:3rem;max-width:34rem}
th:last-child,td:last-child{padding-right:0}
thead th{border-top:0;color:var(--dim);font-size:.78rem;font-weight:500;white-space:nowrap}
tbody th{font-weight:500}
td{font-variant-numeric:tabular-nums}
.num{text-align:right}
.tree tbody th,.tree tbody td{font-size:1em}
.tree th,.tree td{border-top:0;padding-top:.12rem;padding-bottom:.12rem}
.lines{white-space:pre;color:var(--dim);font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-weight:400}
.changes{list-style:none;margin:0;padding:0}
.axis,.bars>li{display:grid;grid-template-columns:minmax(10rem,19rem) 1fr 8.5rem;gap:0 1rem;align-items:center}
.bars{list-style:none;margin:0;padding:0;font-size:.86rem}
.bars>li{padding:.12rem 0;break-inside:avoid}
.bars .spent{color:var(--dim);text-align:right;font-variant-numeric:tabular-nums}
.what{display:flex;flex-wrap:wrap;gap:0 .6rem;min-width:0}
svg{display:block;width:100%;overflow:visible}
.axis svg{height:20px}.bars svg{height:18px}
svg text{font:11px system-ui,sans-serif;fill:var(--dim)}
svg .tick{stroke:var(--line)}
svg .now{stroke:var(--dim);stroke-dasharray:1 3}
svg .running{fill:var(--active);stroke:var(--active)}
svg .ready{fill:none;stroke:var(--ready)}
svg .waiting{stroke:var(--ready);stroke-width:1.5}
svg .gated{stroke:var(--ready);stroke-width:1.5;stroke-dasharray:1 3}
svg .unrecorded{stroke:var(--ready);stroke-dasharray:3 3}
svg .due{stroke:var(--warn);stroke-width:1.5;stroke-dasharray:3 2}
svg .end{font-size:13px;font-weight:700;stroke:var(--card);stroke-width:4px;paint-order:stroke}
svg .end.good{fill:var(--good)}svg .end.bad{fill:var(--bad)}svg .end.warn{fill:var(--warn)}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;list-style:none;margin:.9rem 0 0;padding:.7rem 0 0;border-top:1px solid var(--line);font-size:.85rem;color:var(--dim)}
.legend li{display:flex;align-items:center;gap:.45rem}
.legend svg{width:26px;height:18px}
footer{color:var(--dim);font-size:.85rem;margin-top:1.5rem}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:46rem){
body{padding:1rem .75rem 2rem;font-size:16px}
section{padding:.9rem .85rem}
.facts{grid-template-columns:1fr 1fr;gap:.6rem 1rem;font-size:.95em}
table,tbody{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tbody tr{display:flex;flex-wrap:wrap;gap:.05rem .9rem;padding:.5rem 0;border-top:1px solid var(--line)}
tbody tr:first-child{border-top:0}
tbody th{flex:1 0 100%}
tbody th,tbody td,.tree th,.tree td{border:0;padding:0;max-width:100%;min-width:0;text-align:left}
tbody td[data-title]:not([data-title=""])::before{content:attr(data-title) " ";color:var(--dim);font-size:.82em}
td[data-title="Message"],td[data-title="Reason"],td[data-title="Changes"],td[data-title="Select"],td[data-title="Waiting on"]{flex:1 0 100%}
.blank{display:none}
.lines{display:inline-block;max-width:38vw;overflow:hidden;vertical-align:bottom}
.axis,.bars>li{grid-template-columns:1fr auto}
.bars>li{padding:.4rem 0}
.axis svg,.bars svg{grid-column:1/-1;grid-row:2}
}
@media (max-width:22rem){.facts{grid-template-columns:1fr}}
@media print{
:root{color-scheme:light;--page:#fff;--card:#fff;--text:#000;--dim:#444;--line:#bbb;--good:#0d5c34;--bad:#9c1018;--warn:#6b4300;--active:#084a94;--badcard:#fff;--ready:#666}
@page{margin:14mm}
body{max-width:none;padding:0;font-size:10pt}
section{break-inside:auto;border-color:#bbb;padding:.6rem .7rem}
h1,h2,h3{break-after:avoid}
tr,.list>li{break-inside:avoid}
thead{display:table-header-group}
.scroll{overflow:visible}
a{color:inherit;text-decoration:none}
svg *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
article+article{break-before:page;border:0;margin:0;padding:0}
}
`
