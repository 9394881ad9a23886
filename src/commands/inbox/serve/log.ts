import { errorProblem } from '../../../cli/error-problem.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import { counted } from '../../../formats/terminal/numbers.ts'
import type { StoreObserver } from '../../../inbox/serve/served-inboxes.ts'
import type { ServeObserver } from '../../../inbox/serve/server.ts'
import { type Entry, shortTime } from '../../watchdog/log/entries.ts'

/** Between two entries about what was taken, ms. */
const SUMMARY_MS = 60_000

/** Reports what a server does. Nothing of a body or token reaches it. */
export class ServeLog implements ServeObserver, StoreObserver {
  readonly #note: (entry: Entry) => void
  readonly #runtime: Runtime
  readonly #timer: NodeJS.Timeout
  #requests = 0
  #records = 0
  #refused = new Map<number, number>()
  #total = 0

  constructor(note: (entry: Entry) => void, runtime: Runtime) {
    this.#note = note
    this.#runtime = runtime
    this.#timer = setInterval(() => this.#summarize(), SUMMARY_MS)
    this.#timer.unref()
  }

  answered(status: number, _inbox: string | undefined, records: number): void {
    this.#requests += 1
    this.#records += records
    this.#total += records
    if (status === 202) return
    // Once when it begins, then in the summaries.
    if (status >= 429 && !this.#refused.has(status))
      this.#note({ level: 'warn', kind: 'refused', text: `requests are refused: ${status}`, fields: { status } })
    this.#refused.set(status, (this.#refused.get(status) ?? 0) + 1)
  }

  outage(error: unknown): void {
    const { code, message } = errorProblem(error, this.#runtime)
    const text = `records cannot be put: ${message} [${code}]`
    this.#note({ level: 'error', kind: 'outage', text, fields: { code, error: message } })
  }

  recovered(lastedMs: number): void {
    const fields = { lastedMs: Math.round(lastedMs) }
    const text = `the store takes records again, after ${shortTime(lastedMs)}`
    this.#note({ level: 'warn', kind: 'recovered', style: 'good', text, fields })
  }

  /** A region is away, or back. */
  region(text: string): void {
    this.#note({ level: 'warn', kind: 'region', text })
  }

  gone(inbox: string): void {
    this.#note({ level: 'error', kind: 'gone', text: `the inbox ${inbox} was removed`, fields: { inbox } })
  }

  back(inbox: string): void {
    const text = `the inbox ${inbox} was created again`
    this.#note({ level: 'warn', kind: 'back', style: 'good', text, fields: { inbox } })
  }

  /** The last entry. @param tookMs since the signal */
  stopped(tookMs: number): void {
    clearInterval(this.#timer)
    this.#summarize()
    const text = `stopped after ${shortTime(tookMs)}; ${counted(this.#total, 'record')} put`
    this.#note({ level: 'info', kind: 'stop', text, fields: { tookMs: Math.round(tookMs), records: this.#total } })
  }

  #summarize(): void {
    if (this.#requests === 0) return
    const refused = Object.fromEntries([...this.#refused].sort(([a], [b]) => a - b))
    const others = Object.entries(refused).map(([status, count]) => `, ${count} answered ${status}`)
    const text = `${counted(this.#records, 'record')} of ${counted(this.#requests, 'request')}${others.join('')}`
    this.#note({
      level: 'info',
      kind: 'summary',
      text,
      fields: { requests: this.#requests, records: this.#records, refused },
    })
    this.#requests = 0
    this.#records = 0
    this.#refused = new Map()
  }
}
