// Tables: the same rows for people at a terminal and for RESULTS.md.

export const whole = (n) => (n === undefined ? '–' : Math.round(n).toLocaleString('en-US').replaceAll(',', ' '));
// Runs per second: slow ones deserve a digit.
export const rate = (n) => (n !== undefined && n < 10 ? n.toFixed(1) : whole(n));
export const fixed = (n, digits = 1) => (n === undefined || Number.isNaN(n) ? '–' : n.toFixed(digits));
export const ratio = (n) => (n === undefined || !Number.isFinite(n) ? '–' : `${n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2)} ×`);
export const micros = (us) => (us === undefined ? '–' : us >= 10_000 ? `${(us / 1000).toFixed(1)} ms` : `${Math.round(us)} µs`);
export const millis = (ms) => (ms === undefined ? '–' : ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : ms >= 100 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(2)} ms`);
export const megabytes = (mb) => (mb === undefined ? '–' : `${mb.toFixed(mb < 10 ? 2 : 1)} MB`);

export class Table {
  constructor(title, columns) {
    Object.assign(this, { title, columns, rows: [], notes: [] });
  }

  add(...cells) {
    this.rows.push(cells.map(String));
    return this;
  }

  note(text) {
    this.notes.push(text);
    return this;
  }

  // A figure that the design promises, and whether this run kept the promise.
  goal(text, met) {
    return this.note(`${met ? 'met' : 'MISSED'}: ${text}`);
  }

  text() {
    const all = [this.columns, ...this.rows];
    const widths = this.columns.map((_, i) => Math.max(...all.map((cells) => (cells[i] ?? '').length)));
    const line = (cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ').trimEnd();
    return [`\n${this.title}`, line(this.columns), widths.map((w) => '-'.repeat(w)).join('  '), ...this.rows.map(line), ...this.notes.map((n) => `  ${n}`)].join('\n');
  }

  markdown() {
    const line = (cells) => `| ${cells.join(' | ')} |`;
    const rule = this.columns.map((_, i) => (i === 0 ? '---' : '--:'));
    const notes = this.notes.length ? ['', ...this.notes.map((n) => `- ${n}`)] : [];
    return [`**${this.title}**`, '', line(this.columns), line(rule), ...this.rows.map(line), ...notes].join('\n');
  }
}
