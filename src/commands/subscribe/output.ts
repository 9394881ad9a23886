import { OutputQueue } from '../../cli/output/queue.ts'
import type { Output } from '../../cli/output.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonLine, jsonTime, orNull } from '../../formats/json.ts'
import { counted, span } from '../../formats/terminal/numbers.ts'
import type { ProgramFate } from '../../process/run-program.ts'
import type { ExecutedCommand } from '../../subscriptions/commands/execute.ts'
import { DEFAULT_TRIES } from '../../subscriptions/retry.ts'
import type { Delivery, DeliveryResult, SubscriptionObserver } from '../../subscriptions/types.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { firstLine } from '../work/output.ts'
import type { SubscribeOptions } from './options.ts'

/** What a delivery did, beside its result. */
interface Run {
  readonly fate?: ProgramFate
  readonly commands: readonly ExecutedCommand[]
}

/** Reports what became of each transaction, in order. */
export class SubscribeReporter {
  readonly #options: SubscribeOptions
  readonly #output: Output
  readonly #runtime: Runtime
  readonly #runs = new Map<string, Run>()
  readonly #running = new Set<string>()
  readonly #counts = new Map<DeliveryResult['outcome'], number>()
  readonly #queue = new OutputQueue()

  constructor(options: SubscribeOptions, output: Output, runtime: Runtime) {
    this.#options = options
    this.#output = output
    this.#runtime = runtime
  }

  readonly started = (delivery: Delivery): void => {
    this.#running.add(keyOf(delivery))
  }

  readonly ended = (delivery: Delivery, fate: ProgramFate): void => {
    this.#running.delete(keyOf(delivery))
    this.#runs.set(keyOf(delivery), { ...this.#runOf(delivery), fate })
  }

  readonly executed = (delivery: Delivery, command: ExecutedCommand): void => {
    const run = this.#runOf(delivery)
    this.#runs.set(keyOf(delivery), { ...run, commands: [...run.commands, command] })
  }

  readonly observer: SubscriptionObserver = {
    delivered: result => this.#delivered(result),
    shards: (held, count) => {
      if (!this.#runtime.signal.aborted) this.#say(shardsText(held, count))
    },
    troubled: ({ text }) => this.#say(`-- ${visibleText(text)}; trying again`),
    recovered: what => this.#say(`-- ${RECOVERED[what]}`),
    applied: ({ text }) => this.#say(`-- applied: ${visibleText(text)}`),
  }

  readonly draining = (): void => {
    const left = this.#running.size
    if (left === 0) return
    this.#say(
      `-- draining: ${counted(left, 'command')} still running; a second signal ends ${left === 1 ? 'it' : 'them'}`,
    )
  }

  /** Says what was done, and resolves when everything is written. */
  async end(): Promise<void> {
    const all = [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
    const parts = OUTCOMES.flatMap(outcome => {
      const count = this.#counts.get(outcome)
      return count === undefined ? [] : [`${count} ${WORDS[outcome]}`]
    })
    this.#say(all === 0 ? 'nothing was delivered' : `${counted(all, 'delivery', 'deliveries')}: ${parts.join(', ')}`)
    await this.#queue.flush()
  }

  /** Waits while the reader of the output is too slow. */
  room(): Promise<void> {
    return this.#queue.room(this.#runtime.signal)
  }

  #delivered(result: DeliveryResult): void {
    const { delivery, outcome } = result
    const run = this.#runOf(delivery)
    this.#runs.delete(keyOf(delivery))
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1)
    if (this.#options.output === 'ndjson') this.#print(resultLine(result, run))
    else this.#say(resultText(result, run, this.#options.tries ?? DEFAULT_TRIES, this.#runtime.nowMs()))
  }

  #runOf(delivery: Delivery): Run {
    return this.#runs.get(keyOf(delivery)) ?? { commands: [] }
  }

  #print(line: string): void {
    this.#queue.add(line.length, () => this.#output.text(line))
  }

  #say(sentence: string): void {
    this.#queue.add(sentence.length, () => this.#output.say(sentence))
  }
}

const OUTCOMES: readonly DeliveryResult['outcome'][] = ['handled', 'waiting', 'parked', 'skipped', 'stopped', 'lost']
const WORDS: Readonly<Record<DeliveryResult['outcome'], string>> = {
  handled: 'handled',
  waiting: 'to be tried again',
  parked: 'parked',
  skipped: 'skipped',
  stopped: 'left',
  lost: 'lost',
}

const RECOVERED: Readonly<Record<Parameters<NonNullable<SubscriptionObserver['recovered']>>[0], string>> = {
  store: 'the store answers again',
  shards: 'shards can be taken and renewed again',
  position: 'positions can be read and written again',
  full: 'the shard has room again',
  requests: 'requests can be read again',
  stream: 'all streams can be read again',
}

function keyOf({ stream, id }: Delivery): string {
  return `${stream}\n${id}`
}

function shardsText(held: readonly number[], count: number): string {
  if (held.length === 0) return `-- no shard of ${count}: other processes have them`
  return `-- ${held.length === count ? `all ${count} shards` : `shards ${held.join(' ')} of ${count}`}`
}

/** `handled    orders/4711 v12 complete in 0.1s` */
function resultText(result: DeliveryResult, { commands }: Run, most: number, nowMs: number): string {
  const { delivery, outcome, tookMs, tries } = result
  const { stream, transaction } = delivery
  const took = tookMs < 10_000 ? `${(tookMs / 1_000).toFixed(1)}s` : span(tookMs)
  const again = outcome === 'waiting' ? againText(result, most, nowMs) : ''
  const sent = commands.length === 0 ? '' : `, sent ${commands.map(commandText).join(', ')}`
  const reason = whyOf(result)
  const why = reason === undefined ? '' : `: ${firstLine(reason)}`
  const after = outcome === 'parked' || outcome === 'skipped' ? ` after ${counted(tries, 'try', 'tries')}` : ''
  const what = `v${transaction.version} ${visibleText(transaction.op)} in ${took}${after}${sent}${again}${why}`
  return `${outcome.padEnd(10)} ${visibleName(stream)} ${what}`
}

function againText({ tries, nextMs, handled }: DeliveryResult, most: number, nowMs: number): string {
  const pause = nextMs === undefined ? '' : `, again in ${span(Math.max(0, nextMs - nowMs))}`
  return handled.kind === 'failed' ? `, try ${tries} of ${most}${pause}` : pause
}

function commandText({ command, outcome }: ExecutedCommand): string {
  return `${command.do} ${visibleName(command.stream)}${outcome === 'done' ? '' : ` (${outcome})`}`
}

function whyOf({ handled }: DeliveryResult): string | undefined {
  return 'why' in handled ? handled.why : undefined
}

/** One line of `-o ndjson`. */
function resultLine(result: DeliveryResult, { fate, commands }: Run): string {
  const { delivery, outcome, tries, tookMs, lagMs, nextMs } = result
  const { subscription, stream, transaction, id, attempt, done } = delivery
  return jsonLine({
    subscription,
    stream,
    version: transaction.version,
    deliveryId: id,
    op: transaction.op,
    done,
    outcome,
    attempt,
    tries,
    exit: fate?.kind === 'exited' ? fate.code : null,
    signal: fate?.kind === 'killed' ? fate.signal : null,
    why: orNull(whyOf(result)),
    nextAt: outcome === 'waiting' ? jsonTime(nextMs) : null,
    tookMs: Math.round(tookMs),
    lagMs: Math.round(lagMs),
    commands: commands.map(({ command, commandId, outcome, version }) => ({
      do: command.do,
      stream: command.stream,
      commandId,
      outcome,
      version: version ?? null,
    })),
  })
}
