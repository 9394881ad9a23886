import type { StoreFacts } from '../../store/facts.ts'
import type { EventStore } from '../../store/store.ts'
import { type ProbeOptions, type ProbeStep, probeStore } from './probe.ts'
import { storeFindings } from './store.ts'
import type { Finding } from './stream.ts'

export interface StoreExamination {
  readonly facts: StoreFacts
  /** Empty for a file that does not exist yet: looking must not make it. */
  readonly probe: readonly ProbeStep[]
  readonly findings: readonly Finding[]
}

/**
 * Examines the place where streams are: does for real what is needed of it, and asks for its settings.
 *
 * @param options `deep`: also what takes long, see `InspectOptions`
 * @throws the signal's reason, after the cleanup; faults of the store are findings
 */
export async function examineStore(
  store: EventStore,
  { deep = false, ...options }: ProbeOptions & { readonly deep?: boolean },
): Promise<StoreExamination> {
  const { signal } = options
  const inspect = () => store.inspect({ deep, ...(signal === undefined ? {} : { signal }) })
  const file = store.address.startsWith('sqlite:') ? await inspect() : undefined
  const probe = file?.kind === 'sqlite' && !file.exists ? [] : await probeStore(store, options)
  // Elsewhere the probe goes first: whether writes leave versions is known behind one.
  const facts = file ?? (await inspect())
  return { facts, probe, findings: storeFindings(facts, probe, store.nowMs()) }
}
