"use strict";
// The page of all recordings: which are shown is in the address, after #: r (a recording), vs (another beside it), f
// (the frame), h (frames are to be predicted), tour.
(() => {
  const $ = id => document.getElementById(id);
  const texts = new Map([...document.querySelectorAll("script[data-of]")].map(s => [s.dataset.of, s.textContent]));
  const kinds = () => [...document.querySelectorAll(".kind")];
  const kind = name => kinds().find(k => k.dataset.name === name);
  const step = $("main").options[0].value;
  let running = null, at = {}, link = "";

  function read() {
    const q = new URLSearchParams(location.hash.slice(1));
    const tour = q.has("tour"), r = !tour && kind(q.get("r")) ? q.get("r") : step;
    return {r, vs: kind(q.get("vs")) && q.get("vs") !== r ? q.get("vs") : "", f: Number(q.get("f")) || 1, h: q.has("h"), tour};
  }
  function write() {
    const q = new URLSearchParams();
    if (at.tour) q.set("tour", ""); else q.set("r", at.r);
    if (at.vs) q.set("vs", at.vs);
    q.set("f", at.f);
    if (at.h) q.set("h", "");
    const hash = "#" + q.toString().replaceAll("=&", "&").replace(/=$/, "");
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }
  function show() {
    running?.end();
    const main = kind(at.r), vs = kind(at.vs);
    for (const k of kinds()) k.hidden = k !== main && k !== vs;
    if (vs) $("shown").append(main, vs);
    $("shown").classList.toggle("two", Boolean(vs));
    $("main").value = at.r;
    $("vs").value = at.vs;
    for (const o of $("vs").options) o.disabled = o.value === at.r;
    $("tour").setAttribute("aria-pressed", at.tour);
    URL.revokeObjectURL(link);
    $("save").href = link = URL.createObjectURL(new Blob([texts.get(at.r)], {type: "application/json"}));
    $("save").download = `${at.r}.json`;
    running = replay([main, vs].filter(k => k).map(k => k.querySelector(".rp")), {f: at.f, h: at.h, changed});
  }
  function changed({f, h}) {
    at.f = f;
    at.h = h;
    $("predict").setAttribute("aria-pressed", h);
    $("touring").hidden = !at.tour;
    [...$("touring").children].forEach((s, i) => { s.hidden = i !== f - 1; });
    write();
  }
  function turn(to) { at = {...at, ...to}; show(); }

  $("main").addEventListener("change", e => turn({r: e.target.value, vs: at.vs === e.target.value ? "" : at.vs, f: 1, tour: false}));
  $("vs").addEventListener("change", e => turn({vs: e.target.value}));
  $("tour").addEventListener("click", () => turn({tour: !at.tour, r: step, vs: "", f: 1}));
  $("predict").addEventListener("click", () => running.predict());
  $("back").addEventListener("click", () => running.go(at.f - 1));
  $("on").addEventListener("click", () => running.next());

  addEventListener("hashchange", () => { at = read(); show(); });
  document.body.classList.add("live");
  at = read();
  show();
})();
