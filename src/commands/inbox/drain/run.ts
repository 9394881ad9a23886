import { commandLine } from '../../../cli/command-line.ts'
import { openOutput } from '../../../cli/output.ts'
import { partitionIn } from '../../../cli/partition.ts'
import { EndsWith, type Problem, problem, UsageError } from '../../../cli/problem.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import { leaseReport, openStoreFor } from '../../../cli/store.ts'
import { agreeOnWork } from '../../../inbox/drain/agreement.ts'
import { drain } from '../../../inbox/drain/drain.ts'
import {
  type AppendsSteps,
  type CreatesStreams,
  type DrainWork,
  drainWork,
  inStrictOrder,
} from '../../../inbox/drain/work.ts'
import type { Inbox } from '../../../inbox/inbox.ts'
import { keepNoDocuments } from '../../../ops/transact/commit.ts'
import { takeAsSigterm } from '../../../process/as-sigterm.ts'
import type { StreamStore } from '../../../store/store.ts'
import { InvalidValue } from '../../../stream/errors.ts'
import { reasonOf } from '../../../stream/text.ts'
import { isoTime } from '../../../stream/time/dates.ts'
import { defined } from '../../../util/defined.ts'
import { readTemplate } from '../../init/read-template.ts'
import { initOperation } from '../../init/run.ts'
import { findInbox, findInboxIn, otherStore } from '../find.ts'
import type { DrainCommandOptions } from './options.ts'
import { DrainReporter, reportText } from './output.ts'

/** Many creations share a commit of the embedded store; a store that cannot bear it halves the number. */
const DEFAULT_CONCURRENCY = 256

/** Drains until stopped, or with `--once` until it is empty. */
export async function drainInbox(options: DrainCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  const spec = await specOf(options, runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  // It never changes a stream again that it has created.
  if (spec.kind === 'create') keepNoDocuments(store)
  const other =
    options.inboxStore === undefined
      ? undefined
      : await runtime.openOther(otherStore(options.inboxStore, '--inbox-store'))
  const inboxStore = other?.store ?? store
  const by = options.by ?? runtime.actor
  const given = workOf(store, spec, options, runtime)
  const work = options.strictOrder ? inStrictOrder(given) : given
  const inbox = await (other === undefined
    ? findInbox(store, options.inbox, runtime)
    : findInboxIn(other, options.inbox, runtime))
  const part = partOf(inbox, options, runtime)
  const refused = await agree(inboxStore, inbox, work, options, runtime)
  if (refused !== undefined) return refused
  const reporter = new DrainReporter(options, output, runtime)
  const {
    concurrency = DEFAULT_CONCURRENCY,
    rate,
    strictOrder,
    checkpointEvery,
    checkpointInterval,
    keep,
    once,
  } = options
  const drainOptions = {
    ...{ inbox, work: paced(work, reporter), by, concurrency, part, rate, strictOrder, checkpointEvery, once },
    ...{ checkpointIntervalMs: checkpointInterval, keepMs: keep, observe: reporter.observe, newId: runtime.newId },
  }
  await output.say(`draining ${inbox.name}: ${work.description}`)
  using _signals = takeAsSigterm()
  const progress = setInterval(reporter.progress, PROGRESS_MS)
  try {
    const report = await drain(inboxStore, drainOptions, runtime.signal)
    await reporter.flush()
    await output.say(reportText(report))
    if (!once) throw new EndsWith(0)
    if (report.dead === 0) return undefined
    const place = { startedAs: runtime.startedAs, opened: other ?? runtime.opened }
    const tryCommand = commandLine(place, ['inbox', 'dead', 'ls', inbox.name])
    return problem('batch-incomplete', 'some records became dead letters', { applied: 'yes', tryCommand })
  } finally {
    clearInterval(progress)
    await reporter.flush()
  }
}

/** Works on no further record while the reader of the output is too slow. */
function paced(work: DrainWork, reporter: DrainReporter): DrainWork {
  return {
    ...work,
    apply: async (...given) => {
      await reporter.room()
      return work.apply(...given)
    },
  }
}

/** Time between lines about the progress, ms. */
const PROGRESS_MS = 10_000

async function specOf(
  { template, append, name }: DrainCommandOptions,
  runtime: Runtime,
): Promise<CreatesStreams | AppendsSteps> {
  if (append !== undefined) return { kind: 'append', name, step: { name: append } }
  const read = await readTemplate(template ?? '', runtime, '--template')
  const { born: _, ...init } = initOperation({ stream: name }, read, undefined, '')
  return { kind: 'create', name, init }
}

/** A record whose stream is leased gives its place to others, and is tried again, ms. */
const LEASE_WAIT_MS = 250

function workOf(
  store: StreamStore,
  spec: CreatesStreams | AppendsSteps,
  options: DrainCommandOptions,
  runtime: Runtime,
): DrainWork {
  const { by = runtime.actor, reason, write, leaseWait = LEASE_WAIT_MS } = options
  const why = reason === undefined ? undefined : reasonOf(reason)
  const purpose = `inbox drain ${options.inbox}`
  try {
    const how = { by, leaseWaitMs: leaseWait, purpose, ...defined({ why, write }), ...leaseReport(options, runtime) }
    return drainWork(store, spec, how)
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw new UsageError(error.message, { cause: error, ...(error.hint !== undefined && { hint: error.hint }) })
  }
}

function partOf({ partitions }: Inbox, options: DrainCommandOptions, runtime: Runtime) {
  const part = partitionIn(options, runtime)
  if (part === undefined || partitions % part.count === 0) return part
  throw new UsageError(`the ${partitions} partitions of the inbox cannot be divided by ${part.count}`, {
    hint: `Give a number of which ${partitions} is a multiple.`,
  })
}

async function agree(
  store: StreamStore,
  inbox: Inbox,
  work: DrainWork,
  { by, force = false }: DrainCommandOptions,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const agreed = await agreeOnWork(store, inbox, work, { by: by ?? runtime.actor, force, signal: runtime.signal })
  switch (agreed.kind) {
    case 'agreed':
      return undefined
    case 'different':
      return problem('changed', `the inbox ${inbox.name} is drained to ${agreed.description}`, {
        exit: 5,
        facts: [['since', `${isoTime(agreed.atMs)}, by ${agreed.by}`]],
        hint: 'It has another template, name or --strict-order. --force replaces that; stop the other drains before.',
      })
    case 'busy':
      return problem('lease-held', `what the drains of ${inbox.name} do is being written by another`)
    case 'unknown':
      return problem('store-unreachable', 'the store did not answer')
    default:
      return agreed satisfies never
  }
}
