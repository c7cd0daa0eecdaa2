// The questions of the page. A small page holds them whole; a large one holds a row for each, in the order of _LISTED in
// report/review_page.py, and what is missing is read from files beside the page, one for each case.
const questions = (function () {
  function unpacked(data) {
    if (!data.rows) return data.items;
    return data.rows.map(([question, kind, name, turn, earlier, group, screen, lead, severe]) => ({
      question, kind: data.kinds[kind], case_id: data.cases[name], turn, earlier_turn: earlier || null, group, screen,
      lead: Boolean(lead), severe: Boolean(severe),
    }));
  }

  /** Lists by key, in the order in which keys and values come up. */
  function grouped(values, key) {
    const groups = new Map();
    for (const value of values) {
      const found = groups.get(key(value));
      if (found) found.push(value);
      else groups.set(key(value), [value]);
    }
    return groups;
  }

  /** Finds the last answer of a reviewer to a question; records are read once, though a large review has thousands. */
  function index() {
    let known = {};
    return (records, reviewer, question) => {
      if (known.records !== records || known.reviewer !== reviewer) known = { records, reviewer, read: 0, answers: new Map() };
      for (; known.read < records.length; known.read++)
        if (records[known.read].reviewer === reviewer) known.answers.set(records[known.read].question, records[known.read]);
      return known.answers.get(question);
    };
  }

  return { unpacked, grouped, index };
})();
