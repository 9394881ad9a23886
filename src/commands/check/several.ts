import type { Output } from '../../cli/output.ts'
import { EndsWith, type Problem } from '../../cli/problem.ts'
import { problemJson } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { readEachStore } from '../../cli/several-stores.ts'
import { type CheckContext, EXITS } from '../../formats/check/json.ts'
import {
  type StoreCheck,
  severalJson,
  severalMetrics,
  severalNagios,
  type UnknownHealth,
  worstOf,
} from '../../formats/check/several.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { CheckLimits } from '../../ops/check/check.ts'
import { checkOne } from './one-store.ts'
import type { CheckOptions } from './options.ts'
import { factsOf } from './unknown.ts'

interface SeveralOptions extends CheckOptions {
  readonly contexts: readonly string[]
}

/** Checks the stores of several contexts; one that cannot be checked is unknown. Always throws. */
export async function checkSeveral(
  options: SeveralOptions,
  limits: CheckLimits,
  output: Output,
  runtime: Runtime,
): Promise<never> {
  const { contexts, match } = options
  const atMs = runtime.nowMs()
  const outcomes = await readEachStore(contexts, options, runtime, async ({ open }) => {
    const { result } = await checkOne(options, limits, runtime, { open })
    return { result, tookMs: runtime.nowMs() - atMs }
  })
  const stores = outcomes.map((one): StoreCheck => {
    const context = { name: one.name, store: one.address, match, atMs, tookMs: undefined }
    if (one.kind === 'failed') return { context, outcome: unknownHealth(one.problem) }
    const { result, tookMs } = one.result
    return { context: { ...context, tookMs }, outcome: result }
  })
  const context = { store: undefined, match, atMs, tookMs: runtime.nowMs() - atMs }
  await print(options.output, stores, context, output)
  throw new EndsWith(EXITS[worstOf(stores)])
}

function unknownHealth(what: Problem): UnknownHealth {
  const { message, code } = what
  const error = problemJson({ ...what, exit: EXITS.unknown })
  return { status: 'unknown', message, code, error, facts: factsOf(what) }
}

function print(
  format: string | undefined,
  stores: readonly StoreCheck[],
  context: CheckContext,
  output: Output,
): Promise<void> {
  switch (format) {
    case 'json':
      return output.text(jsonDocument(severalJson(stores, context)))
    case 'prometheus':
      return output.text(severalMetrics(stores))
    default:
      return output.lines(severalNagios(stores))
  }
}
