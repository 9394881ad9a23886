import type { EventStore } from '../store/store.ts'
import { machineTiming } from '../util/clock.ts'
import type { WatchdogOptions } from './options.ts'
import { Watch } from './pass.ts'
import type { PassReport } from './report.ts'

/**
 * One sweep and what follows from it. There is no second look to wait for, so the clock alone decides; what shows life
 * between look and lease is spared all the same. A dry run changes nothing and tells what it would do.
 *
 * @throws the store's faults
 */
export async function runOnce(
  store: EventStore,
  options: WatchdogOptions,
  { isDryRun, signal }: { readonly isDryRun: boolean; readonly signal: AbortSignal },
): Promise<PassReport> {
  const timing = options.timing ?? machineTiming
  return new Watch(store, options, { trustsClock: true, isDryRun, timing }).pass('sweep', signal)
}
