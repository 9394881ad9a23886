import { confirmYesNo, placeText } from '../../cli/confirm.ts'
import { isListFormat, type Output, openOutput, writeList } from '../../cli/output.ts'
import { CommandFailed, type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument, jsonTime } from '../../formats/json.ts'
import { counted, timeText } from '../../formats/terminal/numbers.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import {
  type LeftOut,
  leftOutBy,
  type OperatorRequest,
  type RequestOutcome,
  removeSubscription,
  requestOf,
} from '../../subscriptions/operate.ts'
import { parkedOf, readSubscriptions, viewReadable, viewSubscription } from '../../subscriptions/read.ts'
import type { HaltedStream } from '../../subscriptions/types.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { startMs } from '../subscribe/start.ts'
import type {
  ListSubscriptionsOptions,
  ParkedOptions,
  RemoveSubscriptionOptions,
  ResetOptions,
  RetryOptions,
  ShowSubscriptionOptions,
  SkipTransactionOptions,
  SubscriptionRequestOptions,
} from './options.ts'
import {
  HALTED_FIELDS,
  haltedJson,
  haltedTable,
  SUBSCRIPTION_FIELDS,
  shardJson,
  subscriptionJson,
  subscriptionTable,
  subscriptionText,
} from './output.ts'

/** `subscription ls` */
export async function listSubscriptions(options: ListSubscriptionsOptions, runtime: Runtime): Promise<undefined> {
  const { output, store } = await opened(options, runtime)
  const views = await readSubscriptions(store, runtime.signal)
  if (isListFormat(options.output)) {
    const writing = { fields: SUBSCRIPTION_FIELDS, rest: { total: views.length } }
    await writeList(options.output, views.map(subscriptionJson), writing, output)
  } else await output.lines(subscriptionTable(views, output))
  if (views.length === 0) await output.say('no subscriptions; subscribe --as NAME -- COMMAND makes one')
}

/** `subscription show` */
export async function showSubscription(
  options: ShowSubscriptionOptions,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { output, store } = await opened(options, runtime)
  const view = await viewReadable(store, options.name, runtime.signal)
  if (view === undefined) return missing(options.name)
  if (options.output === 'json') {
    await output.text(jsonDocument({ ...subscriptionJson(view), shardList: view.shards.map(shardJson) }))
  } else await output.lines(subscriptionText(view, output, store.nowMs()))
  return undefined
}

/** `subscription parked` */
export async function listParked(options: ParkedOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { output, store } = await opened(options, runtime)
  const all = await haltedIn(store, options, runtime)
  const shown = options.waiting ? all : all.filter(({ state }) => state === 'parked')
  switch (options.output) {
    case 'json':
      await output.text(jsonDocument({ subscription: options.name, items: shown.map(haltedJson), total: shown.length }))
      break
    case 'ndjson':
    case 'csv': {
      const items = shown.map(stream => ({ subscription: options.name, ...haltedJson(stream) }))
      await writeList(options.output, items, { fields: HALTED_FIELDS }, output)
      break
    }
    case 'name':
      await output.lines(shown.map(({ stream }) => visibleText(stream)))
      break
    default:
      await output.lines(haltedTable(shown, output, store.nowMs()))
  }
  if (shown.length > 0) return undefined
  const waiting = all.length
  await output.say(
    waiting === 0 ? 'no stream is parked' : `no stream is parked; ${counted(waiting, 'stream')} waiting (--waiting)`,
  )
  return undefined
}

/** `subscription retry` */
export async function retryStreams(options: RetryOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { streams = [], all = false } = options
  if (all === streams.length > 0) {
    throw new UsageError(all ? '--all and STREAM both say what to retry' : 'nothing to retry is given', {
      hint: 'subscription retry NAME STREAM…, or --all for all that are parked',
    })
  }
  const { output, store } = await opened(options, runtime)
  const named = all
    ? (await haltedIn(store, options, runtime)).flatMap(({ stream, state }) => (state === 'parked' ? [stream] : []))
    : streams
  if (named.length === 0) await output.say('no stream is parked')
  const requests = named.map((stream): OperatorRequest => ({ kind: 'retry', stream }))
  return perform(requests, options, store, output, runtime, all ? { kind: 'retry-all' } : undefined)
}

/** `subscription skip` */
export async function skipStream(options: SkipTransactionOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { output, store } = await opened(options, runtime)
  const { stream, to } = options
  return perform([{ kind: 'skip', stream, toVersion: to }], options, store, output, runtime)
}

/** `subscription reset` */
export async function resetSubscription(options: ResetOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { output, store } = await opened(options, runtime)
  const view = await viewSubscription(store, options.name, runtime.signal)
  if (view === undefined) return missing(options.name)
  const fromMs = startMs(options.from, runtime.nowMs()) ?? store.nowMs()
  const from = fromMs === 0 ? 'the start' : timeText(fromMs, store.nowMs(), 'iso')
  // Of one that cannot be read nobody knows what is open.
  const shards = view.kind === 'readable' ? view.shards : []
  const leftOut = await leftOutBy(store, shards, fromMs, runtime.signal)
  const words = leftOutWords(leftOut)
  if (words !== undefined && options.from !== 'now') return notHandled(options, words, leftOut)
  if (!options.yes) {
    const but = words === undefined ? '' : `, and never ${words}`
    const what = `${visibleText(options.name)} gets every transaction from ${from} on again${but}, in ${placeText(runtime.opened)}`
    const declined = await confirmYesNo(what, '--yes', runtime)
    if (declined !== undefined) return declined
  }
  return perform([{ kind: 'reset', fromMs }], options, store, output, runtime)
}

/** What a reset leaves out; `undefined` for nothing. */
function leftOutWords({ streams, sinceMs }: LeftOut): string | undefined {
  const halted = streams === 0 ? [] : [`the next transaction of ${counted(streams, 'parked or waiting stream')}`]
  const behind = sinceMs === undefined ? [] : [`what came after ${jsonTime(sinceMs)} and was not handed over`]
  const all = [...halted, ...behind]
  return all.length === 0 ? undefined : all.join(' and ')
}

function notHandled({ name }: ResetOptions, words: string, { streams, sinceMs }: LeftOut): Problem {
  const earlier = sinceMs === undefined || streams > 0 ? 'An earlier --from' : `--from ${jsonTime(sinceMs)}`
  return problem('not-handled', `the reset would leave out ${words}`, {
    hint: `${earlier} hands that over too, ${streams === 0 ? '' : `subscription retry ${name} --all tries the parked streams, `}--from now leaves it out.`,
  })
}

/** `subscription rm`: a damaged one is removed, one from a newer leasectl is not. */
export async function removeNamed(options: RemoveSubscriptionOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { name, yes } = options
  const { output, store } = await opened(options, runtime)
  try {
    if ((await viewReadable(store, name, runtime.signal)) === undefined) return missing(name)
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
  }
  if (!yes) {
    const what = `This removes ${visibleText(name)} and where it was, in ${placeText(runtime.opened)}`
    const declined = await confirmYesNo(what, '--yes', runtime)
    if (declined !== undefined) return declined
  }
  const outcome = await removeSubscription(store, name, { signal: runtime.signal })
  switch (outcome.kind) {
    case 'removed':
      if (options.output === 'json') await output.text(jsonDocument({ subscription: name, outcome: 'removed' }))
      else await output.lines([`${visibleText(name)} removed`])
      return undefined
    case 'missing':
      return missing(name)
    case 'running':
      return problem('subscription-running', `a process runs the subscription ${name}`, {
        hint: `End it first; subscription show ${name} says who it is.`,
      })
    case 'unknown':
      return problem('unknown', `the store did not answer: ${name} may or may not be removed`, {
        applied: 'unknown',
        hint: 'Repeat it: what is removed stays removed.',
      })
    default:
      return outcome satisfies never
  }
}

async function opened(options: ListSubscriptionsOptions, runtime: Runtime) {
  const output = await openOutput(options, runtime)
  return { output, store: await openStoreFor(options, runtime, output) }
}

/** @throws CommandFailed if there is no such subscription */
async function haltedIn(
  store: StreamStore,
  { name }: ShowSubscriptionOptions,
  { signal }: Runtime,
): Promise<readonly HaltedStream[]> {
  const halted = await parkedOf(store, name, signal)
  if (halted === undefined) throw new CommandFailed(missing(name))
  return halted
}

function missing(name: string): Problem {
  return problem('subscription-not-found', `no subscription ${name}`, { hint: 'subscription ls lists them' })
}

/** One request with its outcome. */
interface Performed {
  readonly wanted: OperatorRequest
  readonly outcome: RequestOutcome
}

/** @param together one request for all of these */
async function perform(
  requests: readonly OperatorRequest[],
  options: SubscriptionRequestOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
  together?: OperatorRequest,
): Promise<Problem | undefined> {
  const { name, by = runtime.actor, within } = options
  const waiting = within === undefined ? {} : { waitMs: within }
  const ask = (wanted: OperatorRequest) => requestOf(store, name, wanted, { by, signal: runtime.signal, ...waiting })
  const forAll = together && requests.length > 0 ? await ask(together) : undefined
  const performed: Performed[] = []
  for (const wanted of requests) {
    const outcome = forAll ?? (await ask(wanted))
    if (outcome.kind === 'missing') return missing(name)
    performed.push({ wanted, outcome })
    if (options.output !== 'json') await tell({ wanted, outcome }, output)
    if (runtime.signal.aborted) break
  }
  await tellPending(performed, output)
  if (options.output === 'json') {
    await output.text(jsonDocument({ subscription: name, items: performed.map(performedJson) }))
  }
  return problemOf(performed, name)
}

async function tell({ wanted, outcome }: Performed, output: Output): Promise<void> {
  if (outcome.kind === 'applied' || outcome.kind === 'pending') await output.lines([requestWords(wanted, outcome)])
}

async function tellPending(performed: readonly Performed[], output: Output): Promise<void> {
  const pending = new Set(performed.flatMap(({ outcome }) => (outcome.kind === 'pending' ? outcome.shards : [])))
  if (pending.size === 0) return
  const shards = [...pending].sort((a, b) => a - b)
  const which = shards.length === 1 ? `shard ${shards[0]}` : `shards ${shards.join(' ')}`
  await output.say(`the processes that run ${which} have not applied it yet; they will`)
}

function requestWords(wanted: OperatorRequest, outcome: RequestOutcome): string {
  if (wanted.kind === 'retry') return `${visibleName(wanted.stream)} is tried again`
  const request = completedRequest(wanted, outcome)
  if (request.kind === 'skip') return `${visibleName(request.stream)} goes on after version ${request.toVersion}`
  if (request.kind === 'reset' && request.fromMs === 0) return 'everything is handed over again'
  return `everything from ${jsonTime(request.kind === 'reset' ? request.fromMs : 0)} on is handed over again`
}

/** A skip gets its version when it is written. */
function completedRequest(wanted: OperatorRequest, outcome: RequestOutcome): OperatorRequest {
  return wanted.kind === 'skip' && 'request' in outcome ? outcome.request : wanted
}

function performedJson({ wanted, outcome }: Performed) {
  const request = completedRequest(wanted, outcome)
  return {
    request: request.kind,
    stream: 'stream' in request ? request.stream : null,
    toVersion: request.kind === 'skip' ? (request.toVersion ?? null) : null,
    from: request.kind === 'reset' && request.fromMs > 0 ? jsonTime(request.fromMs) : null,
    outcome: OUTCOME[outcome.kind],
    pendingShards: outcome.kind === 'pending' ? outcome.shards : [],
  }
}

const OUTCOME: Readonly<Record<RequestOutcome['kind'], string>> = {
  applied: 'applied',
  pending: 'pending',
  missing: 'subscription-not-found',
  'not-halted': 'not-halted',
  handled: 'already-handled',
  'no-version': 'version-not-found',
  unknown: 'unknown',
}

function problemOf(performed: readonly Performed[], name: string): Problem | undefined {
  const problems = performed.flatMap(one => singleProblem(one) ?? [])
  const [first] = problems
  if (first === undefined || performed.length === 1) return first
  return problem('batch-incomplete', `${counted(problems.length, 'stream')} of ${performed.length} not retried`, {
    applied: problems.length < performed.length ? 'yes' : 'no',
    hint: `subscription parked ${name} --waiting lists those that can be retried`,
  })
}

function singleProblem({ wanted, outcome }: Performed): Problem | undefined {
  const stream = 'stream' in wanted ? wanted.stream : undefined
  const where = stream === undefined ? {} : { stream }
  switch (outcome.kind) {
    case 'not-halted':
      return problem('not-halted', `${stream} is neither parked nor waiting`, {
        ...where,
        hint: 'It goes on by itself.',
      })
    case 'handled':
      return problem('already-handled', `${stream} is handled up to version ${outcome.version} already`, where)
    case 'no-version': {
      const to = wanted.kind === 'skip' ? wanted.toVersion : undefined
      return problem(
        'version-not-found',
        `${stream} has no version ${to} to skip to: it is at ${outcome.version}`,
        where,
      )
    }
    case 'unknown': {
      const { request } = outcome
      const words = request.kind === 'skip' ? `Repeat it with --to ${request.toVersion}` : 'Repeat it'
      return problem('unknown', 'the store did not answer: the request may or may not be written', {
        ...where,
        applied: 'unknown',
        hint: `${words}: it has the same effect.`,
      })
    }
    default:
      return undefined
  }
}
