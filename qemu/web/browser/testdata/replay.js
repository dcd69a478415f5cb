"use strict";
// What TestReplay executes in the page of all recordings. It returns what is wrong, a line each, and how long a step takes.
async function checked() {
  const wrong = [];
  let took = 0;
  try { took = steps(); await check(wrong); } catch (e) { wrong.push(e.stack); }
  return `${wrong.slice(0, 20).join("\n")}; a step takes ${took.toFixed(1)} ms`;
}

// steps returns how long a step takes until the page is laid out, in ms: the median of a hundred.
function steps() {
  const times = Array.from({length: 100}, (_, i) => {
    const t = performance.now();
    document.body.dispatchEvent(new KeyboardEvent("keydown", {key: i % 2 ? "ArrowLeft" : "ArrowRight", bubbles: true}));
    document.body.getBoundingClientRect();
    return performance.now() - t;
  });
  return times.sort((a, b) => a - b)[50];
}

async function check(wrong) {
  const $ = id => document.getElementById(id);
  const is = (what, got, want) => { if (String(got) !== String(want)) wrong.push(`${what}: ${got}, not ${want}`); };
  const kind = name => document.querySelector(`.kind[data-name="${name}"]`);
  const now = name => [...kind(name).querySelectorAll(".rp-frame")].filter(f => !f.hidden);
  const key = k => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true, cancelable: true}));
  const until = async (what, f) => { for (const end = Date.now() + 60000; !f() && Date.now() < end;) await new Promise(r => setTimeout(r, 1)); is(what, Boolean(f()), true); };
  const pick = (id, v) => { $(id).value = v; $(id).dispatchEvent(new Event("change")); };
  const number = name => { const f = now(name); is("frames that are shown of " + name, f.length, 1); return f[0].querySelector(".rp-count").textContent; };

  // Keys.
  is("at first", number("step"), "1/8");
  key("ArrowRight"); is("→", number("step"), "2/8");
  key("ArrowLeft"); key("ArrowLeft"); is("← at the begin", number("step"), "1/8");
  key("End"); key("ArrowRight"); is("→ at the end", number("step"), "8/8");
  key("Home"); is("Home", number("step"), "1/8");
  key("5"); is("5", number("step"), "5/8");
  is("address", location.hash, "#r=step&f=5");
  pick("main", "way");
  key("1"); key("2"); is("1 2", number("way").split("/")[0], 12);
  is("lanes that have not come", kind("way").querySelectorAll(".rp-lane:not(.rp-later)").length, 12);
  pick("main", "step");

  // Predict.
  const hidden = () => now("step")[0].querySelector(".rp-seen").hidden;
  key("3"); key("h"); is("h hides nothing yet", hidden(), false);
  key("ArrowRight"); is("the next frame", number("step") + hidden(), "4/8true");
  is("what is asked", now("step")[0].querySelector(".rp-guess").hidden, false);
  is("address", location.hash, "#r=step&f=4&h");
  key("ArrowRight"); is("the answer", number("step") + hidden(), "4/8false");
  key("ArrowLeft"); is("back", number("step") + hidden(), "3/8false");
  key("h"); key("ArrowRight"); is("without h", number("step") + hidden(), "4/8false");

  // Beside each other.
  pick("vs", "jump");
  is("address", location.hash, "#r=step&vs=jump&f=4");
  is("jump", number("jump"), "4/4");
  key("ArrowRight"); is("one is over", number("step") + number("jump"), "5/84/4");
  is("shown", [...document.querySelectorAll(".kind")].filter(k => !k.hidden).map(k => k.dataset.name), "step,jump");
  location.hash = "#r=return&f=4&vs=user";
  await until("the address is followed", () => !kind("return").hidden);
  is("the address", number("return") + number("user"), "4/74/4");
  location.hash = "#r=nonsense&f=-3&vs=<b>";
  await until("an address that names nothing", () => !kind("step").hidden);
  is("nonsense", number("step") + kind("return").hidden, "1/8true");

  // The tour.
  $("tour").click();
  const stop = () => [...$("touring").children].filter(s => !s.hidden).map(s => s.querySelector("h2").textContent[0]);
  is("stops", $("touring").children.length, 8);
  key("4"); is("the fourth stop", stop() + number("step") + location.hash, "44/8#tour&f=4");
  pick("main", "jump"); is("no tour of others", $("touring").hidden, true);

  // What everybody needs: nothing is cut off, text has contrast, what can be pressed has a name.
  const light = c => { const f = c.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
  const colour = s => s.match(/[\d.]+/g).map(Number);
  const behind = e => { for (; e; e = e.parentElement) { const c = colour(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; } return [255, 255, 255]; };
  for (const hash of ["#tour&f=4", "#r=return&f=4", "#r=way&f=12", "#r=abandoned&f=3&vs=step"]) {
    document.body.dataset.turned = "";
    addEventListener("hashchange", () => { document.body.dataset.turned = hash; }, {once: true}); // after the page's own
    location.hash = hash;
    await until(hash, () => document.body.dataset.turned === hash);
    is(`width at ${hash}`, document.documentElement.scrollWidth <= innerWidth, true);
    for (const e of document.querySelectorAll("body *")) {
      if (!e.checkVisibility({visibilityProperty: true}) || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
      const [a, b] = [light(colour(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(1)} of ${e.tagName} ${e.className}: ${e.textContent.slice(0, 30)}`);
    }
    for (const e of document.querySelectorAll("button, select, input, a")) if (!(e.ariaLabel || e.textContent.trim() || e.labels?.length)) wrong.push(`no name: ${e.outerHTML.slice(0, 60)}`);
  }
}
