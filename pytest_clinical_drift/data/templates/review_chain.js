"use strict";
// Records in a chain: the same hash as content_hash on the side that reads the file. Own code, since a page opened from disk
// has no crypto.subtle in every browser.
const chain = (function () {
  function sha256(text) {
    const rotate = (value, by) => (value >>> by) | (value << (32 - by));
    const primes = [];
    for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
    const fraction = (value) => ((value - Math.floor(value)) * 4294967296) | 0;
    const k = primes.map((p) => fraction(Math.cbrt(p)));
    const h = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
    const bytes = Array.from(text, (c) => c.charCodeAt(0));
    const bits = bytes.length * 8;
    bytes.push(128);
    while (bytes.length % 64 !== 56) bytes.push(0);
    for (const part of [Math.floor(bits / 4294967296), bits >>> 0])
      for (const by of [24, 16, 8, 0]) bytes.push((part >>> by) & 255);
    for (let at = 0; at < bytes.length; at += 64) {
      const w = [];
      for (let i = 0; i < 64; i++) {
        if (i < 16) {
          const b = at + 4 * i;
          w.push((bytes[b] << 24) | (bytes[b + 1] << 16) | (bytes[b + 2] << 8) | bytes[b + 3]);
        } else {
          const x = w[i - 15], y = w[i - 2];
          const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
          const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
          w.push((w[i - 16] + s0 + w[i - 7] + s1) | 0);
        }
      }
      let [a, b, c, d, e, f, g, last] = h;
      for (let i = 0; i < 64; i++) {
        const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        const t1 = (last + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
        const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [last, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
      }
      [a, b, c, d, e, f, g, last].forEach((value, i) => { h[i] = (h[i] + value) | 0; });
    }
    return h.map((value) => (value >>> 0).toString(16).padStart(8, "0")).join("");
  }

  function ascii(value) {
    const escaped = (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");
    return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
  }

  function canonical(record) {
    return "{" + Object.keys(record).sort().map((key) => ascii(key) + ":" + ascii(record[key])).join(",") + "}";
  }

  return { ascii, hash: (record) => sha256(canonical(record)) };
})();
