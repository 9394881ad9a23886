import { commandLine } from '../../cli/command-line.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { counted, countText, span } from '../../formats/terminal/numbers.ts'
import type { StreamStore } from '../../store/store.ts'
import { type OperatorRequest, type RequestOutcome, requestOf } from '../../subscriptions/operate.ts'
import { parkedOf } from '../../subscriptions/read.ts'
import type { HaltedStream } from '../../subscriptions/types.ts'
import type { ChangeTarget, Outcome, Preview } from '../../tui/ports.ts'
import { commandWords } from '../../util/strings.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { type Prepared, ROWS_LISTED } from './changes.ts'

/** What the dashboard asks of a subscription. */
export type DeliveryVerb = 'retry-delivery' | 'skip-delivery' | 'reset'

export function isDeliveryVerb(verb: string): verb is DeliveryVerb {
  return verb === 'retry-delivery' || verb === 'skip-delivery' || verb === 'reset'
}

/** How long the processes that run a subscription have to apply a request, ms. */
const WAIT_MS = 10_000

/** Inspects the subscription of the targets. Only streams that are then halted at the same transaction are changed. */
export async function prepareDeliveries(
  verb: DeliveryVerb,
  targets: readonly ChangeTarget[],
  opened: RuntimeStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Prepared> {
  const name = targets[0]?.subscription ?? ''
  const halted = (await parkedOf(opened.store, name, signal)) ?? []
  if (verb === 'reset') return prepareReset(name, halted.length, targets, opened, runtime)
  const found = targets.flatMap(({ stream }) => halted.find(one => one.stream === stream) ?? [])
  const nowMs = opened.store.nowMs()
  const streams = found.map(({ stream }) => stream)
  const word = verb === 'retry-delivery' ? 'retry' : 'skip'
  return {
    preview: {
      verb,
      question: questionOf(verb, name, streams),
      affected: found.slice(0, ROWS_LISTED).map(one => haltedLine(one, nowMs)),
      more: Math.max(0, found.length - ROWS_LISTED),
      facts: factsOf(verb, targets.length - found.length),
      count: found.length,
      command: () => commandLine(runtime, commandWords(['subscription', word], [name, ...streams], [])),
      confirm: confirmOf(found.length, opened.isProtected),
    },
    execute: async (_reason, onOutcome, stop) => {
      for (const one of found) {
        if (stop.aborted) break
        onOutcome(await performOn(opened.store, name, verb, one, runtime, stop))
      }
      return { lines: [] }
    },
  }
}

function questionOf(verb: 'retry-delivery' | 'skip-delivery', name: string, streams: readonly string[]): string {
  const [only] = streams
  const of = `of the subscription ${visibleText(name)}`
  if (only === undefined) return `No stream ${of} is halted`
  const what = streams.length === 1 ? visibleName(only) : counted(streams.length, 'stream')
  return verb === 'retry-delivery'
    ? `This tries ${what} ${of} again now`
    : `This leaves out the transaction at which ${what} ${of} is halted`
}

function haltedLine({ stream, state, version, tries, sinceMs, why }: HaltedStream, nowMs: number): string {
  const since = sinceMs === 0 ? '' : ` for ${span(nowMs - sinceMs)}`
  const reason = why.trim() === '' ? '' : `: ${visibleText(why.trim())}`
  return `${visibleName(stream)}  ${state}${since} after version ${version}, ${counted(tries, 'failed try', 'failed tries')}${reason}`
}

function factsOf(verb: DeliveryVerb, gone: number): string[] {
  return [
    ...(gone > 0 ? [`${counted(gone, 'stream')} no longer halted, left out`] : []),
    ...(verb === 'skip-delivery' ? ['The handler never gets that transaction; those after it follow.'] : []),
  ]
}

/** The number is typed where it is large, and everywhere in a protected store. */
function confirmOf(count: number, isProtected: boolean): Preview['confirm'] {
  return isProtected || count >= 50
    ? { kind: 'type', text: String(count), what: 'the number of streams' }
    : { kind: 'yes' }
}

function prepareReset(
  name: string,
  halted: number,
  targets: readonly ChangeTarget[],
  { store }: RuntimeStore,
  runtime: Runtime,
): Prepared {
  const [target = { stream: name }] = targets
  return {
    preview: {
      verb: 'reset',
      question: `This hands over every transaction of the subscription ${visibleText(name)} again, from the start`,
      affected: [],
      more: 0,
      facts: [
        'Whatever the handler does, it does again: for read models, and handlers that know what they have done.',
        ...(halted > 0
          ? [`${countText(halted)} halted ${halted === 1 ? 'stream is' : 'streams are'} tried again.`]
          : []),
      ],
      count: 1,
      command: () =>
        commandLine(runtime, commandWords(['subscription', 'reset'], [name], ['--from', 'start', '--yes'])),
      confirm: { kind: 'type', text: name, what: 'the name of the subscription' },
    },
    execute: async (_reason, onOutcome, stop) => {
      const outcome = await request(store, name, { kind: 'reset', fromMs: 0 }, runtime, stop)
      onOutcome(outcomeOf(target, 'everything is handed over again', outcome))
      return { lines: [] }
    },
  }
}

async function performOn(
  store: StreamStore,
  name: string,
  verb: 'retry-delivery' | 'skip-delivery',
  { stream, version, born }: HaltedStream,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Outcome> {
  const now = (await parkedOf(store, name, signal))?.find(one => one.stream === stream)
  if (now !== undefined && (now.version !== version || now.born !== born)) {
    return { target: { stream }, word: 'changed', isGood: false, text: 'it is halted at another transaction now' }
  }
  const wanted: OperatorRequest = verb === 'retry-delivery' ? { kind: 'retry', stream } : { kind: 'skip', stream }
  const outcome = await request(store, name, wanted, runtime, signal)
  const text = verb === 'retry-delivery' ? 'is tried again' : skippedText(outcome)
  return outcomeOf({ stream }, text, outcome)
}

function skippedText(outcome: RequestOutcome): string {
  const version = 'request' in outcome && outcome.request.kind === 'skip' ? ` ${outcome.request.toVersion}` : ''
  return `goes on after version${version}`
}

function request(
  store: StreamStore,
  name: string,
  wanted: OperatorRequest,
  { actor }: Runtime,
  signal: AbortSignal,
): Promise<RequestOutcome> {
  return requestOf(store, name, wanted, { by: actor, waitMs: WAIT_MS, signal })
}

function outcomeOf(target: ChangeTarget, done: string, outcome: RequestOutcome): Outcome {
  const of = (word: string, isGood: boolean, text: string): Outcome => ({ target, word, isGood, text })
  switch (outcome.kind) {
    case 'applied':
      return of('done', true, done)
    case 'pending':
      return of('done', true, `${done}, once the processes that run it have seen the request`)
    case 'missing':
      return of('refused', false, 'there is no such subscription')
    case 'not-halted':
      return of('already', true, 'it goes on already')
    case 'no-version':
      return of('refused', false, `the stream is at version ${outcome.version}`)
    case 'handled':
      return of('already', true, `version ${outcome.version} is handled`)
    case 'unknown':
      return of('unknown', false, 'the store did not answer: it may or may not be asked for; ask again')
    default:
      return outcome satisfies never
  }
}
