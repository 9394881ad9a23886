import { createHash } from 'node:crypto'
import type { Happening } from './happenings.ts'

/** All occurrences of a run, in order. */
export class Trace {
  readonly happenings: Happening[] = []
  readonly #startMs: number

  constructor(startMs: number) {
    this.#startMs = startMs
  }

  readonly add = (happening: Happening): void => {
    this.happenings.push(happening)
  }

  /** The same bytes for two identical runs. */
  get text(): string {
    return this.happenings.map(happening => `${JSON.stringify(happening)}\n`).join('')
  }

  get hash(): string {
    return createHash('sha256').update(this.text).digest('hex')
  }

  /** The last lines about one stream up to a time, and the faults that then affected all actors. */
  linesOf(stream: string, untilMs: number, count = 25): string {
    const about = this.happenings.filter(
      happening => happening.atMs <= untilMs && (!('stream' in happening) || happening.stream === stream),
    )
    return about
      .slice(-count)
      .map(happening => lineOf(happening, this.#startMs))
      .join('\n')
  }
}

/** `d03 04:05:06.789 dog-1  wrote s-017 01.00 aborted; abort 01.00 watchdog:01.00:1:…` */
function lineOf(happening: Happening, startMs: number): string {
  return `${timeOf(happening.atMs, startMs)} ${happening.who.padEnd(9)} ${textOf(happening, startMs)}`
}

export function timeOf(atMs: number, startMs: number): string {
  const sinceMs = Math.round(atMs - startMs)
  const clock = new Date(((sinceMs % 86_400_000) + 86_400_000) % 86_400_000).toISOString().slice(11, 23)
  return `d${String(Math.floor(sinceMs / 86_400_000)).padStart(2, '0')} ${clock}`
}

function textOf(happening: Happening, startMs: number): string {
  switch (happening.kind) {
    case 'wrote': {
      const events = happening.events.map(({ id, status, timeout }) => `${id} ${status}${timeout && ` (${timeout})`}`)
      const entries = happening.entries.map(({ op, on, commandId }) => `${op} ${on} ${commandId}`)
      return `wrote ${happening.stream} ${[events.join(', '), ...entries].join('; ')}`
    }
    case 'silent':
      return `silent ${happening.stream} ${happening.event}`
    case 'fault':
      return `${happening.fault} in ${happening.call} ${happening.stream} until ${timeOf(happening.untilMs, startMs)}`
    case 'outage':
      return `outage until ${timeOf(happening.untilMs, startMs)}`
    case 'leased':
      return `leased ${happening.stream} until ${timeOf(happening.untilMs, startMs)}`
    case 'job':
      return `${happening.what} ${happening.stream} ${happening.event}`
    case 'carried':
      return `carried ${happening.stream} ${happening.commandId}: ${happening.outcome}`
    case 'failed-pass':
    case 'breaker':
    case 'blind':
      return `${happening.kind} ${happening.why}`
    case 'up':
    case 'down':
      return happening.kind
    default:
      return happening satisfies never
  }
}
