import type { Runtime } from '../../cli/runtime.ts'
import { sinceMsOf } from '../../cli/values.ts'
import type { StreamStore } from '../../store/store.ts'
import type { LsOptions } from './options.ts'

/** The time that counts as now in a listing, epoch ms. */
export function momentOf({ at }: LsOptions, { nowMs }: Runtime): number {
  return at === undefined ? nowMs() : sinceMsOf(at, nowMs(), '--at')
}

/** The store as it was at the time of `--at`. */
export async function storeAt(options: LsOptions, store: StreamStore, runtime: Runtime): Promise<StreamStore> {
  if (options.at === undefined) return store
  const { pastStore } = await import('../../ops/past-store.ts')
  return pastStore(store, momentOf(options, runtime))
}

/** In place of an empty list. */
export const NOTHING_THEN = 'nothing matches at that time'
