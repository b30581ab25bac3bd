#pragma once
// How a page looks. No >, < or &, so that the page is well-formed.

#include <string_view>

namespace ilux::app {

inline constexpr std::string_view html_style = R"css(
:root{--back:#fff;--card:#f6f7f9;--text:#1b1f24;--soft:#57606a;--line:#d8dde3;--good:#116329;--bad:#a40e26;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#b07d00;--c5:#56b4e9}
@media (prefers-color-scheme:dark){:root{--back:#0f1318;--card:#181d24;--text:#e6e9ed;--soft:#9aa5b1;--line:#333b45;
--good:#56d364;--bad:#ff8a80;--c0:#5bb4f0;--c1:#ff9249;--c2:#3ccfa0;--c3:#e6a3c8;--c4:#e8b93c;--c5:#9bd5f7}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:70rem;margin:0 auto;padding:1rem}
h1{font-size:1.35rem;line-height:1.25;margin:.2rem 0 1rem}
h2{font-size:1.1rem;margin:2rem 0 .6rem;padding-bottom:.2rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.2rem 0 .4rem}
p,ul{margin:.5rem 0}
ul{padding-left:1.2rem}
.outcome{font-size:1.05rem;font-weight:600;border-left:.3rem solid;padding:.5rem .8rem;background:var(--card)}
.good{border-color:var(--good)}
.good::before{content:"\2713  ";color:var(--good)}
.bad{border-color:var(--bad)}
.bad::before{content:"\2717  ";color:var(--bad)}
.note{color:var(--soft);font-size:.85rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.2rem .5rem .2rem 0;font-variant-numeric:tabular-nums}
th{font-weight:600}
.rows th{width:10rem}
.wide th,.wide td{border-bottom:1px solid var(--line)}
.wide thead th{color:var(--soft)}
.bars th{width:11rem;font-weight:400}
.bars .value{width:6rem;white-space:nowrap;text-align:right;padding-right:.8rem}
.bars i{display:block;height:.75rem;margin-top:.4rem;background:var(--c0);min-width:1px}
.bars .part th{padding-left:1rem;color:var(--soft)}
.bars .part i{background:var(--c5);height:.5rem;margin-top:.5rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}
figure{margin:0;padding:.6rem;background:var(--card);border-radius:.4rem;min-width:0;max-width:34rem}
figcaption{font-weight:600;font-size:.9rem;margin-bottom:.4rem}
figure svg{display:block;width:100%;height:auto}
svg text{fill:var(--text);font:12px system-ui,sans-serif}
svg text.level{fill:var(--c3)}
.grid{stroke:var(--line);stroke-width:.7}
.axis{stroke:var(--soft)}
line.level{stroke:var(--c3);stroke-dasharray:5 3}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.marks{fill:none;stroke-width:6;stroke-linecap:round}
.c0{stroke:var(--c0)}
.c1{stroke:var(--c1)}
.c2{stroke:var(--c2);stroke-linecap:square}
.c3{stroke:var(--c3)}
.c4{stroke:var(--c4);stroke-linecap:square}
.c5{stroke:var(--c5)}
.c6{stroke:var(--soft)}
.c7{stroke:var(--text);stroke-linecap:square}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.4rem 0 0;font-size:.85rem}
.legend svg{display:inline-block;width:1.5rem;height:.75rem;margin-right:.3rem}
figure .sparsity{max-width:30rem;border:1px solid var(--line);background:var(--back)}
.sparsity path{fill:none;stroke:var(--text);shape-rendering:crispEdges}
.sparsity .s1{stroke-opacity:.42}
.sparsity .s2{stroke-opacity:.55}
.sparsity .s3{stroke-opacity:.7}
.sparsity .s4{stroke-opacity:.85}
.sparsity .cut{stroke:var(--c1);stroke-width:1;stroke-opacity:.8;vector-effect:non-scaling-stroke;shape-rendering:auto}
.options td:first-child{width:50%}
details{margin-top:.8rem}
summary{cursor:pointer;font-weight:600;margin-bottom:.3rem}
@media (max-width:36rem){
main{padding:.7rem}
.rows,.rows tbody,.rows tr,.rows th,.rows td{display:block;width:auto}
.rows th{padding-bottom:0;color:var(--soft)}
.rows th:empty{display:none}
.rows td{padding-bottom:.5rem}
.bars th{width:7.8rem}
.bars .value{width:5rem}
.bars .part th{padding-left:.6rem;font-size:.8rem}
.wide thead{display:none}
.wide,.wide tbody{display:block}
.wide tr{display:grid;grid-template-columns:1fr 1fr;gap:0 .8rem;padding:.4rem 0;border-bottom:1px solid var(--line)}
.wide td{border:0;padding:.05rem 0}
.wide td::before{content:attr(data-head) ": ";color:var(--soft)}
}
)css";

}  // namespace ilux::app
