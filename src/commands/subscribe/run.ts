import { openOutput } from '../../cli/output.ts'
import { EndsWith, type Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { keepHeapSmallest } from '../../cli/v8-flags.ts'
import { takeAsSigterm } from '../../process/as-sigterm.ts'
import { findProgram } from '../../process/find-program.ts'
import { runSubscription } from '../../subscriptions/engine.ts'
import { DEFAULT_SHARDS } from '../../subscriptions/subscription.ts'
import type { SubscriptionSpec } from '../../subscriptions/types.ts'
import { defined } from '../../util/defined.ts'
import { notStarted } from '../exec/outcome.ts'
import { DEFAULT_GRACE_MS, environment } from '../exec/run.ts'
import type { SubscribeOptions } from './options.ts'
import { SubscribeReporter } from './output.ts'
import { programHandler } from './program.ts'
import { startMs } from './start.ts'

const DEFAULT_CONCURRENCY = 8
const DEFAULT_INTERVAL_MS = 1_000
const DEFAULT_TIMEOUT_MS = 5 * 60_000

/** Runs the subscription until drained. */
export async function subscribe(options: SubscribeOptions, runtime: Runtime): Promise<Problem | undefined> {
  const [program] = options.command
  const found = findProgram(program, runtime.env.PATH)
  if (found.kind !== 'found') return notStarted(program, found.kind === 'missing' ? 'ENOENT' : 'EACCES')
  await keepHeapSmallest()
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const reporter = new SubscribeReporter(options, output, runtime)
  const by = options.by ?? runtime.actor
  const handler = programHandler(options.command, {
    store,
    env: environment(runtime),
    stdout: options.output === 'ndjson' ? 'stderr' : 'inherit',
    stderr: chunk => runtime.stderr.write(chunk),
    timeoutMs: options.timeout ?? DEFAULT_TIMEOUT_MS,
    graceMs: options.grace ?? DEFAULT_GRACE_MS,
    by,
    started: reporter.started,
    ended: reporter.ended,
    executed: reporter.executed,
    ...defined({ leaseWaitMs: options.leaseWait }),
  })
  const { partition, tries, onPoison, from } = options
  using _signals = takeAsSigterm()
  runtime.signal.addEventListener('abort', reporter.draining, { once: true })
  try {
    const given = {
      spec: specOf(options),
      handler: async (...handled: Parameters<typeof handler>) => {
        await reporter.room()
        return handler(...handled)
      },
      by,
      concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
      intervalMs: options.interval ?? DEFAULT_INTERVAL_MS,
      observer: reporter.observer,
      // The first signal drains: what runs may end.
      abort: new AbortController().signal,
      ...defined({ partition, tries, onPoison, fromMs: from && startMs(from, runtime.nowMs()) }),
    }
    await runSubscription(store, given, runtime.signal)
    await reporter.end()
    throw new EndsWith(0)
  } finally {
    runtime.signal.removeEventListener('abort', reporter.draining)
  }
}

function specOf({ as, match, notMatch, op, name, doneOnly, shards }: SubscribeOptions): SubscriptionSpec {
  return {
    name: as,
    match: match ?? [],
    notMatch: notMatch ?? [],
    ops: op ?? [],
    eventNames: name ?? [],
    doneOnly: doneOnly ?? false,
    shards: shards ?? DEFAULT_SHARDS,
  }
}
