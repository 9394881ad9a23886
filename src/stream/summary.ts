import { isOutcome, type StreamOutcome } from './event.ts'
import { isPlainId } from './event-id.ts'
import { MAX_READ_EVENTS } from './limits.ts'

/** The facts of a stream for listings. A cache: the document is authoritative (stream-format 8). */
export interface Summary {
  readonly version: number
  readonly born: string
  /** The root's status. */
  readonly status: string
  /** What the failures have meant for the stream. */
  readonly outcome: '' | StreamOutcome
  /** Who wrote last (`by` of the last transaction). */
  readonly lastBy: string
  /** Name of the root event. */
  readonly root: string
  /** Epoch ms; `undefined` when missing or unreadable. */
  readonly createdMs: number | undefined
  readonly key: string
  readonly topic: string
  readonly tag: string
  readonly trackingId: string
  /** When an event was last aborted or, in a stream without aborted events, canceled; epoch ms. */
  readonly failedAtMs: number | undefined
  /** Id, name and first 200 characters of the message of the first aborted event or, without one, of the first canceled event. */
  readonly failedId: string
  readonly failedName: string
  readonly failure: string
  /** When an operator last acknowledged the failures, epoch ms. */
  readonly ackMs: number | undefined
  /** Since when the open stream is suspended, epoch ms. Then none of its events is started, due or abandoned. */
  readonly suspendedMs: number | undefined
  /** Who suspended it, and why; `''` for none. */
  readonly suspendedBy: string
  readonly suspendedWhy: string
  /** Counts of events; superseded ones are not counted. */
  readonly open: number
  /** Completed events. */
  readonly done: number
  /** Aborted events. */
  readonly failed: number
  /** Events that were canceled on request. Those canceled because an event above them ended are not counted. */
  readonly canceled: number
  readonly total: number
  /** The earliest deadline of an open event, epoch ms. */
  readonly dueMs: number | undefined
  /** The earliest end of a claim, epoch ms: from then on another worker may take over its event. */
  readonly claimEndMs: number | undefined
  /** The earliest time at which a gate opens if nothing else happens, epoch ms. */
  readonly wakeMs: number | undefined
  /** Ids of the open leaves that the stream waits on; a last item `+N` means N more. */
  readonly waitingOn: readonly string[]
  /** Since when the first of the ready events can be started, epoch ms. */
  readonly readySinceMs: number | undefined
  /** `name|topic` of the `init` events that can be started, once a suspension ends; percent-encoded parts; a last item `+N` as above. */
  readonly ready: readonly string[]
  /** The open leaves that a worker has taken, see `runningItem`; a last item `+N` as above. */
  readonly running: readonly string[]
  /** The events with a closed gate, see `gatedItem`; a last item `+N` as above. */
  readonly gated: readonly string[]
}

/** Raised when older readers would misread the fields. */
const CODEC = '2'

const TEXT_KEYS = {
  born: 'born',
  status: 'status',
  lastBy: 'by',
  root: 'root',
  key: 'key',
  topic: 'topic',
  tag: 'tag',
  trackingId: 'tracking',
  failedId: 'failed_id',
  failedName: 'failed_name',
  failure: 'failure',
  suspendedBy: 'suspended_by',
  suspendedWhy: 'suspended_why',
} as const
type TextName = keyof typeof TEXT_KEYS
const COUNT_KEYS = {
  version: 'v',
  open: 'open',
  done: 'done',
  failed: 'failed',
  canceled: 'canceled',
  total: 'total',
} as const
const TIME_KEYS = {
  createdMs: 'created',
  failedAtMs: 'failed_at',
  ackMs: 'ack',
  suspendedMs: 'suspended',
  dueMs: 'due',
  claimEndMs: 'claim_end',
  readySinceMs: 'ready_since',
  wakeMs: 'wake',
} as const

// Pairs of field and key, made once: the codec runs with every read and write.
const TEXTS = entries(TEXT_KEYS)
const COUNTS = entries(COUNT_KEYS)
const TIMES = entries(TIME_KEYS)

/** The keys of the fields of an encoded summary. */
export type SummaryKey =
  | 'codec'
  | 'outcome'
  | 'gated'
  | 'ready'
  | 'running'
  | 'waiting'
  | (typeof TEXT_KEYS)[TextName]
  | (typeof COUNT_KEYS)[keyof typeof COUNT_KEYS]
  | (typeof TIME_KEYS)[keyof typeof TIME_KEYS]

/** Texts that filters compare come late; the fields that identify the stream come after the lists. */
const SHORTENED_FIRST: readonly TextName[] = [
  'failure',
  'suspendedWhy',
  'suspendedBy',
  'lastBy',
  'tag',
  'failedName',
  'root',
  'topic',
  'key',
  'trackingId',
]
const SHORTENED_LAST: readonly TextName[] = ['failedId', 'status', 'born']

/**
 * The summary as ASCII fields: keys are lower-case C# identifiers, values are percent-encoded, empty values are left
 * out. To fit into 4 KiB, fields are shortened in this order, each as far as needed: failure, reason and author of a suspension, who wrote last, tag,
 * name of the failed event, root, topic, key and tracking id, ending with `…`; `gated`, `running`, `ready`, then `waitingOn`, at whole items; failed id, status and
 * born.
 */
export function encodeSummary(summary: Summary): Record<string, string> {
  const fields: Record<string, string> = { codec: CODEC }
  for (const [name, key] of COUNTS) fields[key] = String(summary[name])
  for (const [name, key] of TIMES) {
    const ms = summary[name]
    if (ms !== undefined) fields[key] = String(Math.round(ms))
  }
  for (const [name, key] of TEXTS) put(fields, key, encodeURIComponent(summary[name].toWellFormed()))
  put(fields, 'outcome', summary.outcome)
  put(fields, 'ready', encodeItems(summary.ready, READY_LIMIT_BYTES))
  put(fields, 'running', encodeItems(summary.running, RUNNING_LIMIT_BYTES))
  put(fields, 'gated', encodeItems(summary.gated, GATED_LIMIT_BYTES))
  put(fields, 'waiting', encodeIds(summary.waitingOn, WAITING_ON_LIMIT_BYTES))
  return excessBytes(fields) > 0 ? fit(fields, summary) : fields
}

/** The summary in these fields; `undefined` if a field is missing or unreadable. Never throws. */
export function decodeSummary(fields: Readonly<Record<string, string | undefined>>): Summary | undefined {
  const outcome = fields.outcome ?? ''
  if (fields.codec !== CODEC || (outcome !== '' && !isOutcome(outcome))) return undefined
  try {
    // Written out instead of built from the tables of keys: a listing decodes thousands at a time, and this takes half
    // the time.
    return {
      version: wholeNumber(fields[COUNT_KEYS.version], COUNT),
      born: textOf(fields[TEXT_KEYS.born]),
      status: textOf(fields[TEXT_KEYS.status]),
      outcome,
      lastBy: textOf(fields[TEXT_KEYS.lastBy]),
      root: textOf(fields[TEXT_KEYS.root]),
      createdMs: timeOf(fields[TIME_KEYS.createdMs]),
      key: textOf(fields[TEXT_KEYS.key]),
      topic: textOf(fields[TEXT_KEYS.topic]),
      tag: textOf(fields[TEXT_KEYS.tag]),
      trackingId: textOf(fields[TEXT_KEYS.trackingId]),
      failedAtMs: timeOf(fields[TIME_KEYS.failedAtMs]),
      ackMs: timeOf(fields[TIME_KEYS.ackMs]),
      suspendedMs: timeOf(fields[TIME_KEYS.suspendedMs]),
      suspendedBy: textOf(fields[TEXT_KEYS.suspendedBy]),
      suspendedWhy: textOf(fields[TEXT_KEYS.suspendedWhy]),
      failedId: textOf(fields[TEXT_KEYS.failedId]),
      failedName: textOf(fields[TEXT_KEYS.failedName]),
      failure: textOf(fields[TEXT_KEYS.failure]),
      open: eventsOf(fields[COUNT_KEYS.open]),
      done: eventsOf(fields[COUNT_KEYS.done]),
      failed: eventsOf(fields[COUNT_KEYS.failed]),
      canceled: eventsOf(fields[COUNT_KEYS.canceled]),
      total: eventsOf(fields[COUNT_KEYS.total]),
      dueMs: timeOf(fields[TIME_KEYS.dueMs]),
      claimEndMs: timeOf(fields[TIME_KEYS.claimEndMs]),
      readySinceMs: timeOf(fields[TIME_KEYS.readySinceMs]),
      wakeMs: timeOf(fields[TIME_KEYS.wakeMs]),
      waitingOn: idsOf(fields.waiting),
      ready: itemsOf(fields.ready),
      running: itemsOf(fields.running),
      gated: itemsOf(fields.gated),
    }
  } catch {
    return undefined
  }
}

/** The version in these fields, even if the rest is missing or belongs to another body; 0 for none. Never throws. */
export function versionOf({ v }: Readonly<Record<typeof COUNT_KEYS.version, string | undefined>>): number {
  return v !== undefined && COUNT.test(v) ? Number(v) : 0
}

/** Bytes of an id in an encoded `waitingOn`. */
export function encodedIdLength(id: string): number {
  return isPlainId(id) ? id.length : encodeId(id).length
}

function fit(fields: Record<string, string>, summary: Summary): Record<string, string> {
  const shorten = (name: TextName) =>
    put(fields, TEXT_KEYS[name], shortened(summary[name].toWellFormed(), excessBytes(fields)))
  SHORTENED_FIRST.forEach(shorten)
  put(fields, 'gated', encodeItems(summary.gated, limitOf(fields, 'gated')))
  put(fields, 'running', encodeItems(summary.running, limitOf(fields, 'running')))
  put(fields, 'ready', encodeItems(summary.ready, limitOf(fields, 'ready')))
  put(fields, 'waiting', encodeIds(summary.waitingOn, limitOf(fields, 'waiting')))
  SHORTENED_LAST.forEach(shorten)
  return fields
}

/** Size to which an encoded list must shrink so that the summary fits. */
function limitOf(fields: Readonly<Record<string, string>>, key: string): number {
  return (fields[key] ?? '').length - Math.max(0, excessBytes(fields))
}

function encodeIds(ids: readonly string[], limitBytes: number): string {
  return cutList(ids, limitBytes, encodedIdLength).map(encodeId).join(',')
}

function encodeId(id: string): string {
  return cutCount(id) > 0 ? id : encodeURIComponent(id.toWellFormed())
}

/** The parts of an item are encoded already; other characters must not break the field. */
function encodeItems(items: readonly string[], limitBytes: number): string {
  const safe = items.map(item => item.toWellFormed().replace(/[^!-~]|,/gu, encodeURIComponent))
  return cutList(safe, limitBytes, item => item.length).join(',')
}

/** `split` takes three times as long. */
function itemsOf(field = ''): string[] {
  const items: string[] = []
  if (field === '') return items
  let from = 0
  for (let to = field.indexOf(','); to >= 0; to = field.indexOf(',', from)) {
    items.push(field.slice(from, to))
    from = to + 1
  }
  items.push(field.slice(from))
  return items
}

function idsOf(field: string | undefined): string[] {
  const ids = itemsOf(field)
  return field?.includes('%') ? ids.map(id => textOf(id)) : ids
}

function put(fields: Record<string, string>, key: string, value: string): void {
  if (value === '') delete fields[key]
  else fields[key] = value
}

const COUNT = /^\d{1,15}$/
const TIME = /^-?\d{1,16}$/

/**
 * One day less than the range of `Date`, so that every zone can show it:
 * https://tc39.es/ecma262/#sec-time-values-and-time-range
 */
const MAX_TIME_MS = 8_640_000_000_000_000 - 86_400_000

/** A count of events. Bounded, so that one bad metadata value does not outweigh the events of all other streams. */
function eventsOf(text: string | undefined): number {
  return wholeNumber(text, COUNT, MAX_READ_EVENTS)
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : wholeNumber(text, TIME, MAX_TIME_MS)
}

function wholeNumber(text: string | undefined, form: RegExp, most = Number.MAX_SAFE_INTEGER): number {
  if (text === undefined || !form.test(text)) throw new RangeError('not a whole number')
  const number = Number(text)
  if (Math.abs(number) > most) throw new RangeError('not a number that can be')
  return number
}

function textOf(text = ''): string {
  return text.indexOf('%') < 0 ? text : decodeURIComponent(text)
}

function entries<Name extends string>(keys: Readonly<Record<Name, string>>): [Name, string][] {
  return Object.entries(keys) as [Name, string][]
}

/** Maximum size of a summary: the sum of all values and of all keys with the prefix that a store adds. */
const SUMMARY_LIMIT_BYTES = 4096
/** Of these, the bytes that a store needs to identify the summarized body, and for the prefix of each key. */
const MARK_BYTES = 128
const PREFIX_BYTES = 12

/** Limits of the lists, in bytes as encoded, separators included. */
export const WAITING_ON_LIMIT_BYTES = 512
export const READY_LIMIT_BYTES = 1024
export const RUNNING_LIMIT_BYTES = 768
export const GATED_LIMIT_BYTES = 512

/** Mark at the end of a shortened text: the document has the whole text. */
const CUT_MARK = '…'
const CUT_MARK_BYTES = encodeURIComponent(CUT_MARK).length
/** Maximum length of a failure's message, in characters. */
export const FAILURE_LENGTH = 200

/** Whether the document may have more of a failure than its summary. */
export function isFailureCut(failure: string): boolean {
  return failure.length >= FAILURE_LENGTH || failure.endsWith(CUT_MARK)
}

/** No text is shortened below this many encoded bytes. */
const MIN_TEXT_BYTES = 96

/**
 * The first items that fit into the limit when joined by a separator of one byte, then `+N` for the N left out. A mark
 * that is already at the end is added to N.
 * @param sizeOf bytes of an item as written
 */
export function cutList(items: readonly string[], limitBytes: number, sizeOf: (item: string) => number): string[] {
  const earlier = cutCount(items.at(-1))
  const whole = earlier === 0 ? items : items.slice(0, -1)
  const sizes: number[] = []
  let bytes = 0
  for (const item of whole) {
    const size = sizeOf(item) + 1
    sizes.push(size)
    bytes += size
  }
  if (earlier === 0 && bytes - 1 <= limitBytes) return [...whole]
  let kept = whole.length
  const mark = () => `+${whole.length - kept + earlier}`
  while (kept > 0 && bytes + mark().length > limitBytes) bytes -= sizes[--kept] ?? 0
  return [...whole.slice(0, kept), mark()]
}

/** The N of a mark `+N` at the end of a list; 0 for any other item. */
export function cutCount(item: string | undefined): number {
  return item?.startsWith('+') && /^\+\d{1,9}$/.test(item) ? Number(item.slice(1)) : 0
}

/** By how many bytes the encoded fields exceed the limit; 0 or less when they fit. */
function excessBytes(fields: Readonly<Record<string, string>>): number {
  let bytes = MARK_BYTES
  for (const [key, value] of Object.entries(fields)) bytes += PREFIX_BYTES + key.length + value.length
  return bytes - SUMMARY_LIMIT_BYTES
}

/** The text percent-encoded and shortened by `over` bytes, cut at a whole character, but never below 96 bytes. */
export function shortened(text: string, over: number): string {
  const encoded = encodeURIComponent(text)
  if (over <= 0 || encoded.length <= MIN_TEXT_BYTES) return encoded
  const limit = Math.max(MIN_TEXT_BYTES, encoded.length - over) - CUT_MARK_BYTES
  let kept = ''
  for (const character of text) {
    const next = encodeURIComponent(character)
    if (kept.length + next.length > limit) break
    kept += next
  }
  return kept + encodeURIComponent(CUT_MARK)
}
