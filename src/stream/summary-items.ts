import type { WaitsFor } from './gate.ts'

/** The items of the lists in a summary: what ready, running and gated events are, as short texts. */

/** An open leaf that a worker has taken. */
export interface RunningEvent {
  readonly id: string
  readonly name: string
  /** `''` for a worker that makes no claims. */
  readonly owner: string
  readonly attempt: number
  /** When it was claimed, epoch ms; `undefined` where that is not known. */
  readonly sinceMs: number | undefined
  /** The last sign of life, epoch ms. */
  readonly lastSeenMs: number | undefined
  /** When its claim ends or ended, epoch ms; `undefined` without a claim. */
  readonly claimEndMs: number | undefined
}

/** A running event as an item of the list: percent-encoded texts, attempt and times in base 36, joined by `|`. */
export function runningItem({ id, name, owner, attempt, sinceMs, lastSeenMs, claimEndMs }: RunningEvent): string {
  const times = `${inBase36(sinceMs)}|${inBase36(lastSeenMs)}|${inBase36(claimEndMs)}`
  return `${encodedPart(id)}|${encodedPart(name)}|${encodedPart(owner)}|${inBase36(attempt)}|${times}`
}

function inBase36(number: number | undefined): string {
  return number === undefined ? '' : Math.round(number).toString(36)
}

/** Percent-encoded. Most texts need no encoding, and looking is faster. */
export function encodedPart(text: string): string {
  return UNCHANGED.test(text) ? text : encodeURIComponent(text.toWellFormed())
}

const UNCHANGED = /^[\w.@-]*$/

/** The running event of an item; `undefined` for a mark `+N` and what cannot be read. */
export function runningEvent(item: string): RunningEvent | undefined {
  const parts = item.split('|', MAX_PARTS)
  // Not destructured: a listing reads thousands of items in its first milliseconds, when that is slow.
  const part = (at: number) => parts[at] ?? ''
  if (part(0) === '' || parts.length !== RUNNING_PARTS) return undefined
  try {
    return {
      id: decoded(part(0)),
      name: decoded(part(1)),
      owner: decoded(part(2)),
      attempt: Number.parseInt(part(3), 36) || 1,
      sinceMs: timeOf(part(4)),
      lastSeenMs: timeOf(part(5)),
      claimEndMs: timeOf(part(6)),
    }
  } catch {
    return undefined
  }
}

const RUNNING_PARTS = 7
/** One more, so that an item with too many is not taken for a whole one. */
const MAX_PARTS = RUNNING_PARTS + 1

function timeOf(text: string): number | undefined {
  return text === '' ? undefined : Number.parseInt(text, 36)
}

/** Most texts are short and plain: then nothing is decoded. @throws URIError */
function decoded(text: string): string {
  return text.includes('%') ? decodeURIComponent(text) : text
}

/** An event with a closed gate. */
export interface GatedEvent {
  readonly id: string
  readonly name: string
  readonly topic: string
  /** What it waits for first. */
  readonly waitsFor: WaitsFor
}

/** A gated event as an item of the list: name and topic as in `ready`, id and what it waits for, joined by `|`. */
export function gatedItem({ id, name, topic, waitsFor }: GatedEvent): string {
  return `${encodedPart(name)}|${encodedPart(topic)}|${encodedPart(id)}${waitsForText(waitsFor)}`
}

/** `|b`, `|p6`, `|a01.00 01.01`, `|sapprove`, `|tloyw3v28` */
function waitsForText(what: WaitsFor): string {
  switch (what.kind) {
    case 'branches':
      return '|b'
    case 'step':
      return `|p${what.step}`
    case 'after':
      return `|a${encodeURIComponent(what.ids.join('|'))}`
    case 'signal':
      return `|s${encodedPart(what.name)}`
    case 'timer':
      return `|t${what.wakeMs === undefined ? '' : Math.round(what.wakeMs).toString(36)}`
    default:
      return what satisfies never
  }
}

/** Whether the item is that of an event whose predecessor in a session has not come. */
export function awaitsStep(item: string): boolean {
  return /\|p\d+$/.test(item)
}

/** The gated event of an item; `undefined` for a mark `+N` and what cannot be read. */
export function gatedEvent(item: string): GatedEvent | undefined {
  const parts = item.split('|', GATED_PARTS)
  const part = (at: number) => parts[at] ?? ''
  if (part(2) === '') return undefined
  try {
    const waitsFor = waitsForOf(part(3).slice(0, 1), decoded(part(3).slice(1)))
    if (waitsFor === undefined) return undefined
    return { id: decoded(part(2)), name: decoded(part(0)), topic: decoded(part(1)), waitsFor }
  } catch {
    return undefined
  }
}

const GATED_PARTS = 4

function waitsForOf(kind: string, text: string): WaitsFor | undefined {
  switch (kind) {
    case 'b':
      return { kind: 'branches' }
    case 'p':
      return { kind: 'step', step: Number(text) }
    case 'a':
      return { kind: 'after', ids: text.split('|') }
    case 's':
      return { kind: 'signal', name: text }
    case 't': {
      const ms = Number.parseInt(text, 36)
      return { kind: 'timer', wakeMs: Number.isNaN(ms) ? undefined : ms }
    }
    default:
      return undefined
  }
}

/** The name of a ready event from its item; that of a foreign item which cannot be decoded stays as it is. */
export function readyName(item: string): string {
  const end = item.indexOf('|')
  const name = end < 0 ? item : item.slice(0, end)
  try {
    return decoded(name)
  } catch {
    return name
  }
}
