// The review page: shows one question at a time, keeps the answers as a chain of records, and saves them as a file.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const items = data.items;
  const storeKey = "clinical-drift-review/" + data.manifest;
  const $ = (id) => document.getElementById(id);
  let state = { reviewer: "", role: "", records: [], saved: 0, place: 0 };
  let keeps = true;
  let pending = null; // an answer that waits for its reason

  // ---- what is kept

  function load() {
    try { state = Object.assign(state, JSON.parse(localStorage.getItem(storeKey) || "{}")); } catch (error) { keeps = false; }
  }

  function keep() {
    try { localStorage.setItem(storeKey, JSON.stringify(state)); } catch (error) { keeps = false; }
    if (!keeps) tell("This browser keeps no progress: save the file before you close the page.", true);
  }

  function tell(text, bad) {
    $("status").textContent = text;
    $("status").classList.toggle("bad", Boolean(bad));
  }

  /** The last answer that the present reviewer gave to a question. */
  function answered(item) {
    const given = state.records.filter((r) => r.question === item.question && r.reviewer === state.reviewer);
    return given[given.length - 1];
  }

  const effect = (item, answer) => data.answers[item.kind].find((a) => a.answer === answer).effect;
  const needsReason = (item, answer) => item.severe && effect(item, answer) === "for";

  function append(item, answer, reason) {
    const last = state.records[state.records.length - 1];
    const record = {
      reviewer: state.reviewer, role: state.role, time: new Date().toISOString(), question: item.question,
      kind: item.kind, case_id: item.case_id, answer: answer, reason: reason, severe: item.severe,
      manifest: data.manifest, previous: last ? last.hash : "",
    };
    record.hash = chain.hash(record);
    state.records.push(record);
  }

  function save() {
    if (!state.records.length) return;
    const lines = state.records.map((record) => chain.ascii(record) + "\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
    link.download = "reviews.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    state.saved = state.records.length;
    keep();
    draw();
    tell("Saved " + count(state.records.length, "record") + " as reviews.jsonl.");
  }

  // ---- answering

  function ready() {
    for (const id of ["reviewer", "role"]) {
      if (!$(id).value.trim()) {
        tell("First say who you are and in which role you review.", true);
        $(id).focus();
        return false;
      }
    }
    return true;
  }

  function choose(answer) {
    const item = items[state.place];
    if (!ready()) return;
    const reason = $("reason").value.trim();
    if (needsReason(item, answer) && !reason) {
      pending = answer;
      press(answer);
      tell("To dismiss a severe alarm, give a reason; Enter records it.", true);
      $("reason").focus();
      return;
    }
    append(item, answer, reason);
    pending = null;
    keep();
    draw();
    const left = items.filter((other) => !answered(other)).length;
    $("card").scrollIntoView({ block: "start" });
    tell("Recorded: " + answer + "." + (left ? "" : " That was the last one: save the file."));
    $(left ? "next" : "save").focus({ preventScroll: true });
  }

  /** The same answer for the other turns of this fact. */
  function chooseGroup() {
    const item = items[state.place];
    const given = answered(item);
    const others = unansweredOf(item);
    if (!given || !others.length) return;
    for (const other of others) append(other, given.answer, given.reason);
    keep();
    next();
    tell("Recorded " + given.answer + " for " + count(others.length, "more turn") + " of this fact.");
  }

  const groupOf = (item) => items.filter((other) => other.group === item.group);
  const unansweredOf = (item) => groupOf(item).filter((other) => other !== item && !answered(other));
  const count = (number, what) => number + " " + what + (number === 1 ? "" : "s");

  function go(place) {
    state.place = Math.max(0, Math.min(items.length - 1, place));
    pending = null;
    keep();
    tell("");
    draw();
    $("asked").focus({ preventScroll: true });
    $("card").scrollIntoView({ block: "start" });
  }

  /** On to the first question after this one that has no answer yet. */
  function next() {
    for (let step = 1; step <= items.length; step++) {
      const place = (state.place + step) % items.length;
      if (!answered(items[place])) return go(place);
    }
    draw();
    tell("All questions are answered: save the file.");
    $("save").focus();
  }

  // ---- drawing: texts are set as text, never as markup

  function el(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") element.onclick = value;
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  function marked(pieces) {
    const parts = pieces.map((piece, i) => (i % 2 ? el("mark", null, piece) : piece));
    return el("div", { class: "text", tabindex: "0" }, ...parts);
  }

  const folded = (title, body, open) => el("details", { open: open ? "" : null }, el("summary", null, title), body);
  const plain = (text) => el("div", { class: "text" }, text);

  function where(item) {
    const turns = groupOf(item).map((other) => other.turn);
    const run = turns.length > 1 ? el("span", null, "one of " + turns.length + " turns in a row: " + turns.join(", ")) : null;
    return el("p", { class: "where" },
      el("span", null, state.place + 1 + " of " + items.length),
      el("span", null, item.case_id),
      el("span", null, item.earlier_turn ? "turns " + item.earlier_turn + " and " + item.turn : "turn " + item.turn),
      item.severe ? el("span", { class: "tag severe" }, "severe if it holds") : null, run);
  }

  function about(item) {
    if (!item.about && !item.before.length) return null;
    const title = item.kind === "fact" ? "Earlier values, which no longer hold:" : "";
    const list = item.before.length ? el("ul", null, ...item.before.map((text) => el("li", null, text))) : null;
    const caption = data.captions[item.kind];
    return el("div", { class: "about" }, caption ? el("h3", null, caption) : null, item.about, list && title ? el("p", { class: "soft" }, title) : null, list);
  }

  function texts(item) {
    const name = ["fact", "invented"].includes(item.kind) ? "Summary" : "Reply";
    const later = el("section", null, el("h3", null, name + " of turn " + item.turn), marked(item.text));
    if (!item.earlier_turn) return [later];
    return [el("section", null, el("h3", null, "Reply of turn " + item.earlier_turn), marked(item.earlier)), later];
  }

  function context(item) {
    const others = groupOf(item).filter((other) => other !== item);
    const same = others.map((other) => el("section", null, el("h3", null, "Turn " + other.turn), marked(other.text)));
    return el("section", { class: "context" },
      el("h3", null, "Patient, turn " + item.turn), plain(item.message),
      item.messages ? folded("Patient's messages before", plain(item.messages)) : null,
      folded("Record: intake and what has changed", plain(item.record), window.innerWidth > 960),
      same.length ? folded("The same fact on the other turns", el("div", null, ...same)) : null);
  }

  function press(answer) {
    for (const button of document.querySelectorAll(".answers button"))
      button.setAttribute("aria-pressed", String(button.dataset.answer === answer));
  }

  function decide(item, given) {
    const buttons = data.answers[item.kind].map((entry, i) => {
      const key = entry.answer === "unsure" ? "0" : String(i + 1);
      return el("button", {
        type: "button", class: entry.effect, "data-answer": entry.answer, "data-key": key,
        "aria-pressed": String(given ? given.answer === entry.answer : false), onclick: () => choose(entry.answer),
      }, el("kbd", null, key), " " + entry.label);
    });
    const used = Array.from(new Set(state.records.map((record) => record.reason).filter(Boolean)));
    const reason = el("input", { id: "reason", list: "reasons", autocomplete: "off" });
    reason.value = given ? given.reason : "";
    const others = given ? unansweredOf(item) : [];
    return el("div", { class: "decide" },
      el("div", { class: "answers", role: "group", "aria-label": "Your answer" }, ...buttons),
      el("div", { class: "row" },
        el("label", null, item.severe ? "Reason (needed to dismiss)" : "Reason (if you like)", reason),
        el("datalist", { id: "reasons" }, ...used.map((text) => el("option", { value: text }))),
        others.length ? el("button", { type: "button", id: "group", onclick: chooseGroup },
          "Same for turn " + others.map((other) => other.turn).join(", ") + " ", el("kbd", null, "g")) : null,
        el("button", { type: "button", onclick: () => go(state.place - 1), "aria-label": "previous question" }, el("kbd", null, "←")),
        el("button", { type: "button", id: "next", class: "next", onclick: next }, given ? "Next " : "Skip ", el("kbd", null, given ? "Enter" : "→"))));
  }

  function revealed(item, given) {
    if (!given) return null;
    const opinions = item.opinions.map((opinion) => el("div", null,
      el("p", null, el("strong", null, opinion.who + ": " + opinion.answer), opinion.reason ? " – " + opinion.reason : ""),
      opinion.quote ? el("blockquote", null, opinion.quote) : null));
    const none = opinions.length ? null : el("p", { class: "soft" }, "No judge was asked.");
    return el("div", { class: "revealed" }, el("h3", null, "You said " + given.answer + "; what others thought"),
      el("p", null, item.why), ...opinions, none, el("button", { type: "button", class: "next", onclick: next }, "Next"));
  }

  function draw() {
    const item = items[state.place];
    const given = answered(item);
    $("card").replaceChildren(...[
      where(item),
      el("h2", { id: "asked", tabindex: "-1" }, data.questions[item.kind]),
      about(item),
      revealed(item, given),
      el("div", { class: item.earlier_turn ? "columns pair" : "columns" }, ...texts(item), context(item)),
      decide(item, given),
    ].filter((part) => part !== null));
    const done = items.filter(answered).length;
    const severe = items.filter((other) => other.severe && !answered(other)).length;
    const unsaved = state.records.length - state.saved;
    $("bar").value = done;
    $("count").textContent = done + " of " + items.length + " answered, " + severe + " severe left" +
      (unsaved ? ", " + count(unsaved, "record") + " not saved to a file yet" : "");
    $("save").disabled = !state.records.length;
    if ($("overview").open) drawList();
  }

  function drawList() {
    $("list").replaceChildren(...items.map((item, place) => {
      const given = answered(item);
      const text = (given ? "✓ " + given.answer : "– open") + " · " + item.case_id + ", turn " + item.turn + " · " + (item.about || item.kind);
      return el("li", null, el("button", { type: "button", "aria-current": String(place === state.place), onclick: () => go(place) }, text));
    }));
  }

  // ---- keys

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.tagName === "INPUT") {
      if (event.key === "Escape") event.target.blur();
      if (event.key === "Enter" && event.target.id === "reason") {
        event.preventDefault();
        const given = answered(items[state.place]);
        if (pending) choose(pending);
        else if (given) choose(given.answer);
        else event.target.blur();
      }
      return;
    }
    const button = Array.from(document.querySelectorAll(".answers button")).find((b) => b.dataset.key === event.key);
    const steps = {
      Enter: () => (answered(items[state.place]) ? next() : null),
      ArrowRight: () => go(state.place + 1), ArrowLeft: () => go(state.place - 1),
      g: chooseGroup, s: save, r: () => $("reason").focus(),
    };
    if (button) button.click();
    else if (event.key === "Enter" && ["BUTTON", "SUMMARY"].includes(event.target.tagName)) return;
    else if (steps[event.key]) steps[event.key]();
    else return;
    event.preventDefault();
  }

  load();
  $("headline").textContent = data.headline;
  $("reviewer").value = state.reviewer;
  $("role").value = state.role;
  for (const id of ["reviewer", "role"])
    $(id).addEventListener("change", () => { state[id] = $(id).value.trim(); keep(); draw(); });
  $("who").addEventListener("submit", (event) => event.preventDefault());
  $("save").addEventListener("click", save);
  $("overview").addEventListener("toggle", drawList);
  document.addEventListener("keydown", onKey);
  window.addEventListener("storage", () => { const place = state.place; load(); state.place = place; draw(); }); // another tab
  state.place = Math.max(0, Math.min(items.length - 1, state.place));
  draw();
})();
