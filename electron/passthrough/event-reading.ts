import { countOf, listOf, objectOf, readObject } from './fields.ts';
import { FrameTimes } from './frame-times.ts';
import { JudgedTexts } from './judged-texts.ts';
import type { CallApi } from './read-request.ts';
import { bodyOf, isAmbiguous, readers, type ReadBody } from './read-response.ts';
import { type Choice, Reading } from './reading.ts';
import { type EventRun, LineFeeds, TextFrames } from './text-frames.ts';

/** Lines of a stream that have no data. */
const otherLine = /^(?:event|id|retry)?:[^\r]*\r?$/;

const carriageReturn = 13;

/** What a text in JSON has if it isn't written as it is, or ends before its event does. */
const special = /["\\\n]/;

/** Reads a stream of events in parts, which may end anywhere. It never fails. */
export class EventReading {
  /** When each event ended. */
  readonly times = new FrameTimes();
  readonly #api: CallApi;
  readonly #reading = new Reading();
  readonly #frames: TextFrames;
  readonly #judged: JudgedTexts | null;
  /** Of the texts that the frames know. */
  #choice: Choice = this.#reading;
  /** The line that isn't complete yet. */
  #line: string[] = [];
  readonly #lineFeeds = new LineFeeds();
  #isInEvent = false;
  /** Where the event begins in the part that is being read; -1 if it began in an earlier one. */
  #eventStart = -1;
  /** The text of the event if that is all that it has; null otherwise. */
  #eventText: string | null = null;
  #dataLines = 0;
  #isPartial = false;

  constructor(api: CallApi, isJudged: boolean) {
    this.#api = api;
    this.#frames = new TextFrames(api);
    this.#judged = isJudged ? new JudgedTexts(api) : null;
  }

  /** `atMs` is when the part arrived. */
  add(part: string, atMs: number): void {
    this.#addLines(this.#lineFeeds.add(part), atMs, true);
  }

  #addLines(text: string, atMs: number, mayHaveRun: boolean): void {
    this.#eventStart = -1;
    let start = 0;
    // Once at most: a search that finds nothing reads all of the text.
    let isSearched = !mayHaveRun;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (!isSearched && !this.#isInEvent && this.#line.length === 0 && this.#frames.isLikeEvent(text, start)) {
        isSearched = true;
        const run = this.#frames.runAt(text, start);
        if (run !== null) {
          this.#readRun(run, atMs);
          start = run.endIndex;
          continue;
        }
      }
      if (this.#line.length === 0) this.#readLine(text, start, end, atMs);
      else {
        const line = this.#takeOpenLine(text.slice(0, end));
        this.#readLine(line, 0, line.length, atMs);
        this.#eventStart = -1;
      }
      start = end + 1;
    }
    if (start < text.length) this.#line.push(text.slice(start));
  }

  /** The texts are checked and stored joined, and one by one only if there is something else among them. */
  #readRun({ start, end, texts }: EventRun, atMs: number): void {
    const all = texts.join('');
    if (!special.test(all)) return this.#noteRun(all, texts.length, atMs);
    const { form } = this.#frames;
    let plain: string[] = [];
    for (const text of texts) {
      // An event of another form, which may be for another choice, can be in a text.
      if (!special.test(text) && this.#frames.form === form) {
        plain.push(text);
        continue;
      }
      this.#noteRun(plain.join(''), plain.length, atMs);
      plain = [];
      this.#addLines(start + text + end, atMs, false);
    }
    this.#noteRun(plain.join(''), plain.length, atMs);
  }

  #noteRun(text: string, events: number, atMs: number): void {
    if (events === 0) return;
    this.#noteKnown(text);
    this.times.note(atMs, events);
  }

  #noteKnown(text: string): void {
    this.#choice.texts.push(text);
    this.#judged?.addKnown(text);
  }

  /** `text` is the last part. */
  end(text: string): ReadBody {
    this.add(text, 0);
    if (this.#lineFeeds.isInEnd) this.add('\n', 0);
    const line = this.#takeOpenLine('');
    if (line.trimEnd() !== '') this.#readLine(line, 0, line.length, 0);
    return bodyOf(this.#api, this.#reading, this.#isPartial, this.#judged);
  }

  #takeOpenLine(rest: string): string {
    const line = this.#line.join('') + rest;
    this.#line = [];
    return line;
  }

  #readLine(text: string, start: number, end: number, atMs: number): void {
    if (end === start || (end === start + 1 && text.charCodeAt(start) === carriageReturn)) {
      if (this.#isInEvent) this.#endEvent(text, end, atMs);
      return;
    }
    if (!this.#isInEvent) {
      this.#isInEvent = true;
      this.#eventStart = start;
      this.#eventText = null;
      this.#dataLines = 0;
    }
    if (text.startsWith('data:', start)) {
      this.#dataLines += 1;
      this.#eventText = this.#readData(text.slice(start + (text[start + 5] === ' ' ? 6 : 5), end).trimEnd());
    }
    // Other parsers may find data in it.
    else if (this.#judged) this.#isPartial ||= !otherLine.test(text.slice(start, end));
  }

  #endEvent(text: string, end: number, atMs: number): void {
    this.times.note(atMs);
    this.#isInEvent = false;
    if (this.#eventText === null || this.#eventStart === -1 || this.#dataLines > 1) return;
    this.#frames.learnEvent(text, this.#eventStart, end + 1, this.#eventText);
  }

  /** Returns the text of data that has nothing else; null for other data. */
  #readData(data: string): string | null {
    const known = this.#frames.textOf(data);
    if (known !== null) {
      this.#noteKnown(known);
      return known;
    }
    if (data === '[DONE]') this.#reading.isComplete = true;
    if (!/^\s*\{/.test(data)) {
      this.#isPartial ||= this.#judged !== null && data !== '' && data !== '[DONE]';
      return null;
    }
    const found = readObject(data);
    if (!found || found.isCut || (this.#judged && isAmbiguous(data, found))) this.#isPartial = true;
    if (!found) return null;
    readers[this.#api](this.#reading, found.value);
    this.#judged?.add(found.value);
    const text = this.#frames.learn(data, found.value);
    if (text === null) return null;
    this.#choice = this.#reading.choice(countOf(objectOf(listOf(found.value['choices'])[0])['index']) ?? 0);
    this.#judged?.learn(text);
    return text;
  }
}
