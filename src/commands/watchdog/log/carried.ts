import { jsonTime } from '../../../formats/json.ts'
import { counted } from '../../../formats/terminal/count-text.ts'
import type { Style } from '../../../formats/terminal/style.ts'
import type { Carried, DecisionOutcome } from '../../../watchdog/decision.ts'
import type { Entry, Level } from './entries.ts'
import { shortTime } from './times.ts'

/** How loud an outcome is told the first time, and in which colour. */
const LOOKS: { readonly [Of in DecisionOutcome]: readonly [level: Level, style?: Style] } = {
  ended: ['info', 'warn'],
  settled: ['info', 'good'],
  notified: ['info', 'warn'],
  already: ['debug'],
  'showed-life': ['info', 'good'],
  busy: ['info'],
  gone: ['debug'],
  refused: ['warn'],
  failed: ['error'],
  unknown: ['warn'],
}

/** So many ids of ended events stand in a line. */
const MAX_IDS = 20

/** What became of a decision. */
export function carriedEntry(carried: Carried): Entry {
  const { decision, outcome, atMs, version, ended = [], code } = carried
  const [level, style] = LOOKS[outcome]
  const expiry = decision.kind === 'settle' ? undefined : decision
  return {
    level,
    kind: outcome,
    text: textOf(carried),
    stream: decision.stream,
    ...(expiry === undefined ? {} : { event: expiry.event, name: expiry.name }),
    ...(style === undefined ? {} : { style }),
    fields: {
      action: decision.kind,
      outcome,
      commandId: decision.commandId,
      ...(expiry === undefined ? {} : { limit: expiry.limit, due: jsonTime(expiry.dueMs) }),
      ...(expiry === undefined || !isEnd(outcome) ? {} : { latencyMs: latenessOf(expiry.dueMs, atMs) }),
      ...(version === undefined ? {} : { version }),
      ...(ended.length === 0 ? {} : { ended: ended.slice(0, MAX_IDS), endedEvents: ended.length }),
      ...(code === undefined ? {} : { code }),
    },
  }
}

/** What a dry run would do: that is its output, and no news here. */
export function plannedEntry(decision: Carried['decision']): Entry {
  const { message, ...more } = { message: 'a foreign writer left something to close', event: '', name: '', ...decision }
  const { kind: action, stream, commandId, event, name } = more
  const text = `would be done: ${withoutOutset(message)}`
  return { level: 'debug', kind: action, text, stream, event, name, fields: { action, commandId, dryRun: true } }
}

function textOf({ decision, outcome, atMs, message, code, ended = [] }: Carried): string {
  if (decision.kind === 'settle') return message ?? 'what a foreign writer left to close is closed'
  const why = withoutOutset(decision.message)
  if (!isEnd(outcome)) return `${message ?? why}${code === undefined || code === outcome ? '' : ` [${code}]`}`
  const others = ended.length > 1 ? `, ${counted(ended.length, 'event')} ended` : ''
  return `${why}, ${shortTime(latenessOf(decision.dueMs, atMs))} late${others}`
}

/** The word before it says so already. */
function withoutOutset(message: string): string {
  return message.replace(/^timed out: /, '')
}

function isEnd(outcome: DecisionOutcome): boolean {
  return outcome === 'ended' || outcome === 'notified'
}

function latenessOf(dueMs: number, atMs: number): number {
  return Math.max(0, Math.round(atMs - dueMs))
}
