import { jsonLine, jsonTime, orNull } from '../../formats/json.ts'
import { counted } from '../../formats/terminal/count-text.ts'
import { span } from '../../formats/terminal/numbers.ts'
import { visibleName, visibleText } from '../../stream/text.ts'
import type { Job } from '../../worker/job.ts'
import type { LoopReport } from '../../worker/types.ts'
import type { Ended } from './ended.ts'

/** So much of a message stands on a line. */
const MESSAGE_LENGTH = 200

/** `started    orders/4711 01.00 Pay, attempt 2` */
export function startedText({ stream, event, attempt }: Job): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : ''
  return line('started', stream, event.id, `${visibleText(event.name)}${again}`)
}

/** Of an event that its own timeout may end while it is worked on. */
export function limitText({ stream, event }: Job, warning: string): string {
  return line('beware', stream, event.id, `${visibleText(event.name)}: ${warning}`)
}

/** `completed  orders/4711 01.00 Pay in 12s: 12 results` */
export function endedText({ outcome, stream, event, name, tookMs, code, message }: Ended): string {
  const took = tookMs === undefined ? '' : ` in ${tookMs < 10_000 ? `${(tookMs / 1_000).toFixed(1)}s` : span(tookMs)}`
  const why = [code, message === undefined ? undefined : firstLine(message)].filter(
    text => text !== undefined && text !== '',
  )
  const rest = `${visibleText(name ?? '')}${took}${why.length === 0 ? '' : `: ${why.join(': ')}`}`
  return line(outcome, stream, event, rest)
}

/** What a loop did, in a sentence. */
export function reportText(report: LoopReport): string {
  const { claimed, completed, failed, released, lost, givenUp, faults, locked } = report
  const parts = [
    [completed, 'done'],
    [failed, 'failed'],
    [released, 'handed back'],
    [lost, 'lost'],
  ] as const
  const told = parts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]))
  const besides = [
    ...(givenUp === 0 ? [] : [`${counted(givenUp, 'event')} given up`]),
    ...(faults === 0 ? [] : [counted(faults, 'fault')]),
    ...(locked === 0 ? [] : [`${counted(locked, 'stream')} left, leased until released or broken`]),
  ]
  if (claimed > 0) besides.unshift(`worked on ${counted(claimed, 'event')}: ${told.join(', ')}`)
  return besides.length === 0 ? 'there was nothing to do' : besides.join('; ')
}

/** One line of `-o ndjson`. */
export function endedLine({ run, startedMs, tookMs, ...ended }: Ended): string {
  const { fate } = run ?? {}
  return jsonLine({
    stream: ended.stream,
    event: ended.event,
    name: orNull(ended.name),
    outcome: ended.outcome,
    attempt: ended.attempt ?? null,
    attemptKey: orNull(ended.attemptKey),
    owner: orNull(ended.owner),
    fence: ended.fence ?? null,
    exit: fate?.kind === 'exited' ? fate.code : null,
    signal: fate?.kind === 'killed' ? fate.signal : null,
    code: orNull(ended.code),
    message: orNull(ended.message),
    startedAt: jsonTime(startedMs),
    tookMs: tookMs === undefined ? null : Math.round(tookMs),
    version: ended.version ?? null,
    added: ended.added,
    done: ended.done,
  })
}

function line(word: string, stream: string, event: string, rest: string): string {
  return `${word.padEnd(10)} ${visibleName(stream)} ${visibleText(event)} ${rest}`.trimEnd()
}

function firstLine(text: string): string {
  const [first = ''] = text.trim().split('\n', 1)
  return visibleText([...first.slice(0, 2 * MESSAGE_LENGTH)].slice(0, MESSAGE_LENGTH).join(''))
}
