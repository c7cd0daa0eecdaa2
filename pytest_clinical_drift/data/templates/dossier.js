(function () {
  "use strict";
  var bar = document.querySelector(".filter");
  if (bar) {
    bar.hidden = false;
    bar.addEventListener("click", function (event) {
      var wanted = event.target.dataset.show;
      if (!wanted) return;
      bar.querySelectorAll("button").forEach(function (button) { button.setAttribute("aria-pressed", String(button === event.target)); });
      document.querySelectorAll("details.case, li.case").forEach(function (item) { item.hidden = wanted !== "all" && item.dataset.verdict !== wanted; });
    });
  }

  /* a fact's button marks its words in every summary of its case */
  document.querySelectorAll("details.case").forEach(function (item) {
    item.addEventListener("click", function (event) {
      var button = event.target.closest("button.fact");
      if (!button) return;
      var on = button.getAttribute("aria-pressed") !== "true";
      item.querySelectorAll("button.fact").forEach(function (other) {
        other.setAttribute("aria-pressed", String(on && other.dataset.fact === button.dataset.fact));
      });
      item.querySelectorAll("mark[data-fact]").forEach(function (mark) {
        mark.classList.toggle("picked", on && mark.dataset.fact === button.dataset.fact);
      });
    });
  });

  function show(target) {
    for (var node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
      if (node.hidden) node.hidden = false;
    }
    target.scrollIntoView({ block: "start" });
    var place = target.tagName === "DETAILS" ? target.querySelector("summary") : target;
    place.focus({ preventScroll: true });
    target.classList.add("reached");
    setTimeout(function () { target.classList.remove("reached"); }, 1600);
  }
  function jump() {
    var name = decodeURIComponent(location.hash.slice(1));
    var target = name && document.getElementById(name);
    if (target && target.closest("details, section > details")) show(target);
  }
  addEventListener("hashchange", jump);
  jump();

  /* n and p walk through the alarms, each opened in its turn */
  addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.key !== "n" && event.key !== "p")) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    var all = Array.prototype.slice.call(document.querySelectorAll("section > details.alarm"));
    if (!all.length) return;
    var at = all.findIndex(function (item) { return item.contains(document.activeElement); });
    var next = at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + (event.key === "n" ? 1 : -1)));
    if (at >= 0 && at !== next) all[at].open = false;
    show(all[next]);
  });
})();
