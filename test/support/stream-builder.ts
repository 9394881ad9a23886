import { EMPTY_DOCUMENT, type StreamDocument } from '../../src/stream/document.ts'
import { type EventAttributes, LC_NAMESPACE, type LcAttributeName, type StreamEvent } from '../../src/stream/event.ts'
import { EventStream } from '../../src/stream/event-stream.ts'
import { parseJournal, type Transaction } from '../../src/stream/journal/journal.ts'
import { type Applied, applyOperation, type OperationContext } from '../../src/stream/operations/apply.ts'
import type { Authorship, ChangeResult, EventSpec, Operation, Refusal } from '../../src/stream/operations/operation.ts'
import { decodeDocument } from '../../src/stream/xml/decode.ts'
import { readDocument } from '../../src/stream/xml/read.ts'
import { escapeAttribute } from '../../src/stream/xml/text.ts'
import { writeDocument } from '../../src/stream/xml/write.ts'
import { LegacyStream, type SaveOptions } from './xelement.ts'

/** The time at which every play begins. */
export const START_MS = Date.parse('2024-05-01T12:00:00.000Z')
export const BORN = '11111111-2222-4333-8444-555555555555'

/** An event in the notation of tests: the fourteen attributes by name, ours as `lc:name`. */
export type EventText = Partial<EventAttributes> & { readonly [Name in `lc:${LcAttributeName}`]?: string }

/** The text of a document that another writer made, events in the order given. */
export function documentText(...events: readonly EventText[]): string {
  const lines = events.map(event => `  <Event${attributesText(event)}/>`)
  return `<EventStream xmlns:lc="${LC_NAMESPACE}">\n${lines.join('\n')}\n</EventStream>`
}

function attributesText(event: EventText): string {
  return Object.entries(event)
    .map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`)
    .join('')
}

export const spec = (name: string, more: Partial<EventSpec> = {}): EventSpec => ({ name, ...more })

type Options = Partial<Authorship> & Partial<OperationContext>

/**
 * A stream under test: operations are applied one after the other at a time that the test sets. Each result is written
 * and read again, as between two processes.
 */
export class Play {
  document: StreamDocument
  text: string
  nowMs = START_MS

  constructor(text = '') {
    this.text = text
    this.document = text === '' ? EMPTY_DOCUMENT : readDocument(text)
  }

  /** A stream of our own `init`, with branches `01.00`, `02.00` … and a join `01` on request. */
  static started(...forks: readonly string[]): Play {
    return new Play().after({ op: 'init', root: spec('Start'), forks: forks.map(name => spec(name)) })
  }

  static joined(join: string, ...forks: readonly string[]): Play {
    return new Play().after({ op: 'init', root: spec('Start'), forks: forks.map(name => spec(name)), join: spec(join) })
  }

  /** Any outcome. A changed document is written. */
  apply(given: Brief, options: Options = {}): Applied {
    // Counted in the document: none repeats, even if it is passed from one play to another.
    const { by = 'test', why, commandId = `c${this.document.journal.split(' cmd=').length}`, ...context } = options
    const author = { by, commandId, ...(why === undefined ? {} : { why }) }
    const applied = applyOperation(this.document, complete(given), author, {
      nowMs: this.nowMs,
      versionFloor: 0,
      born: BORN,
      ...context,
    })
    if (applied.kind === 'changed') this.load(writeDocument(applied.document).text)
    return applied
  }

  /** The result of an operation that must not be refused. */
  do(given: Brief, options: Options = {}): ChangeResult {
    const applied = this.apply(given, options)
    if (applied.kind === 'refused') throw new Error(`${given.op}: ${applied.refusal.code}: ${applied.refusal.message}`)
    return applied.result
  }

  /** Operations in sequence, none of which must be refused. */
  after(...given: readonly Brief[]): this {
    for (const one of given) this.do(one)
    return this
  }

  /** The refusal of an operation that must be refused; the document is unchanged. */
  refused(given: Brief, options: Options = {}): Refusal {
    const before = this.document
    const applied = this.apply(given, options)
    if (applied.kind !== 'refused') throw new Error(`${given.op} was not refused`)
    if (this.document !== before) throw new Error('a refusal changed the document')
    return applied.refusal
  }

  code(given: Brief, options: Options = {}): string {
    return this.refused(given, options).code
  }

  /** Lets the .NET library write. */
  legacy(write: (stream: LegacyStream) => void, save: SaveOptions = {}): this {
    const stream = new LegacyStream(this.text)
    write(stream)
    this.load(decodeDocument(stream.save(save)))
    return this
  }

  /** Edits the text, as another writer might. */
  edit(change: (text: string) => string): this {
    const text = change(this.text)
    if (text === this.text) throw new Error('the edit changed nothing')
    this.load(text)
    return this
  }

  wait(ms: number): this {
    this.nowMs += ms
    return this
  }

  event(id: string): StreamEvent {
    const event = this.stream.find(id)
    if (event === undefined) throw new Error(`no event ${id}`)
    return event
  }

  status(id: string): string {
    return this.event(id).status
  }

  /** `id status` of all events, in document order. */
  get statuses(): string[] {
    return this.document.events.map(({ id, status }) => `${id} ${status}`)
  }

  get stream(): EventStream {
    return new EventStream(this.document.events)
  }

  get journal(): Transaction[] {
    return parseJournal(this.document.journal, this.document.prefix)
  }

  /** Goes on with this text. */
  load(text: string): void {
    this.text = text
    this.document = readDocument(text)
  }
}

type Of<Name extends Operation['op']> = Extract<Operation, { op: Name }>
type About<Name extends 'start' | 'touch' | 'advance'> = Partial<Of<Name>> & Pick<Of<Name>, 'op' | 'event'>

/** An operation with defaults: owner `w1`, claims of a minute, no forks. */
export type Brief =
  | (Partial<Of<'init'>> & { readonly op: 'init' })
  | About<'start'>
  | About<'touch'>
  | About<'advance'>
  | Exclude<Operation, { op: 'init' | 'start' | 'touch' | 'advance' }>

export function complete(given: Brief): Operation {
  switch (given.op) {
    case 'init':
      return { root: spec('Start'), forks: [], hold: false, born: BORN, ...given }
    case 'start':
      return { owner: 'w1', claimMs: 60_000, ...given }
    case 'touch':
      return { claimMs: 60_000, ...given }
    case 'advance':
      return { forks: [], ...given }
    default:
      return given
  }
}
