import { type Problem, problem } from '../../cli/problem.ts'
import { wallClock } from '../../formats/stream/header.ts'
import { type ShownStream, shownStream } from '../../formats/stream/view.ts'
import { clock, type TimeStyle } from '../../formats/terminal/numbers.ts'
import {
  type JournalEntry,
  type KnownVersions,
  type StreamView,
  type ViewAt,
  viewAt,
  viewBefore,
} from '../../ops/read-stream.ts'
import type { StreamDocument } from '../../stream/document.ts'
import { EventStream } from '../../stream/event-stream.ts'
import { type VersionOrTime, versionPoint } from './options.ts'

/** A stream, now or at an earlier version, ready for display. */
export interface Picture {
  readonly shown: ShownStream
  readonly document: StreamDocument
  /** Up to the version shown, oldest first. */
  readonly transactions: () => readonly JournalEntry[]
}

/** The current state of a stream. */
export function pictureNow(view: StreamView): Picture {
  return { shown: shownStream(view), document: view.document, transactions: () => view.transactions() }
}

/** An earlier version of a stream. */
export function pictureAt(view: StreamView, at: ViewAt): Picture {
  const { version, nowMs, atMs, adoptedMs, document, past } = at
  const shown = {
    ...shownStream(view),
    version,
    nowMs,
    stream: new EventStream(document.events),
    signals: [],
    transactions: () => past,
    past: { atMs, presentMs: view.nowMs, ...(adoptedMs === undefined ? {} : { adoptedMs }) },
  }
  return { shown, document, transactions: () => past }
}

/** The version that a flag gives, or why there is none. @throws UsageError if the time is in the future */
export function findVersion(
  view: StreamView,
  given: VersionOrTime,
  flag: '--at' | '--diff',
  style: TimeStyle,
): ViewAt | Problem {
  const point = versionPoint(given, flag, view.nowMs)
  const found = viewAt(view, point)
  if (found.kind === 'found') return found.at
  // Before its creation a stream was empty, so everything counts as changed. The state before an adoption is unknown.
  if (flag === '--diff' && 'atMs' in point && found.known?.adopted === false) return viewBefore(view, point.atMs)
  const when = (ms: number) => clock(ms, view.nowMs, wallClock(style))
  const missing = 'version' in point ? `never had version ${point.version}` : `had no version at ${when(point.atMs)}`
  return problem('version-not-found', `${view.name} ${missing}; ${knownText(found.known, when)}`, {
    stream: view.name,
    hint: 'log lists all versions with their times.',
  })
}

function knownText(known: KnownVersions | undefined, when: (ms: number) => string): string {
  if (known === undefined) return 'it has none: leasectl has not written it yet'
  const { first, last, firstMs, adopted } = known
  const range = first === last ? `it has version ${first}` : `it has versions ${first} to ${last}`
  const since = firstMs === undefined ? '' : `, the first from ${when(firstMs)}`
  return `${range}${since}${adopted ? ', when leasectl first wrote a stream made by another program' : ''}`
}

/** True if a value is a problem instead of a result. */
export function isProblem(found: object): found is Problem {
  return 'exit' in found
}
