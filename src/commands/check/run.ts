import { showCount } from '../../cli/counter.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { EndsWith } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { type CheckContext, checkJson, EXITS } from '../../formats/check/json.ts'
import { nagiosLines } from '../../formats/check/nagios.ts'
import { checkMetrics } from '../../formats/check/prometheus.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { CheckResult } from '../../ops/check/check.ts'
import { checkOne } from './one-store.ts'
import { type CheckOptions, limitsOf } from './options.ts'

/** Checks all streams once, for monitoring. Always throws, as the exit code carries the result. */
export async function checkStore(options: CheckOptions, runtime: Runtime): Promise<never> {
  const limits = limitsOf(options)
  const output = await openOutput(options, runtime)
  if (options.contexts !== undefined) {
    const { checkSeveral } = await import('./several.ts')
    return checkSeveral({ ...options, contexts: options.contexts }, limits, output, runtime)
  }
  const startMs = runtime.nowMs()
  const progress = openProgressLine(options, runtime)
  const onCount = (streams: number) => showCount(streams, startMs, progress, runtime)
  const { result, address } = await checkOne(options, limits, runtime, {
    open: () => openStoreFor(options, runtime, output),
    onCount,
  }).finally(() => progress.clear())
  const context = { store: address, match: options.match, atMs: startMs, tookMs: runtime.nowMs() - startMs }
  await print(options.output, result, context, output)
  throw new EndsWith(EXITS[result.status])
}

function print(format: string | undefined, result: CheckResult, context: CheckContext, output: Output): Promise<void> {
  switch (format) {
    case 'json':
      return output.text(jsonDocument(checkJson(result, context)))
    case 'prometheus':
      return output.text(checkMetrics(result, context))
    default:
      return output.lines(nagiosLines(result))
  }
}
