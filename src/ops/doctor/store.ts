import type { StoreFacts } from '../../store/facts.ts'
import type { StreamStore } from '../../store/store.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { readWatchdogState, WATCHDOG_STATE } from '../watchdog-state/parse.ts'
import { azureFindings } from './azure.ts'
import { bounded, type Finding } from './finding.ts'
import { type ProbeOptions, type ProbeStep, probeStore } from './probe.ts'
import { sqliteFindings } from './sqlite.ts'

/**
 * The findings about a store, worst first, successful checks included: from the facts of its driver and the steps of a
 * probe.
 *
 * @param nowMs epoch ms
 */
export function storeFindings(facts: StoreFacts, steps: readonly ProbeStep[], nowMs: number): readonly Finding[] {
  const place = [...placeFindings(facts, nowMs)]
  const isMissing = steps.some(({ code }) => code === 'container-missing')
  // "the first write creates it" is no advice if the path is probably wrong
  const advice = isMissing ? place.filter(({ code }) => code !== 'no-store-yet') : place
  return bounded([...probeFindings(steps), ...advice])
}

function placeFindings(facts: StoreFacts, nowMs: number): Iterable<Finding> {
  switch (facts.kind) {
    case 'sqlite':
      return sqliteFindings(facts)
    case 'azure':
      return azureFindings(facts, nowMs)
    case 'memory':
      return []
    default:
      return facts satisfies never
  }
}

/** The purpose of each step, in words after "cannot". */
const PURPOSE: { readonly [Name in ProbeStep['name']]: string } = {
  list: 'list streams',
  read: 'read a stream',
  create: 'create a stream',
  lease: 'take a lease',
  write: 'write under the lease',
  release: 'release the lease',
  remove: 'remove a stream',
}

function* probeFindings(steps: readonly ProbeStep[]): Generator<Finding> {
  for (const { name, outcome, code = 'unknown', message = '', hint } of steps) {
    if (outcome !== 'refused' && outcome !== 'failed') continue
    yield {
      severity: 'error',
      code,
      subject: name,
      message: `cannot ${PURPOSE[name]}: ${message}`,
      ...(hint === undefined ? {} : { hint }),
    }
  }
  const done = steps.filter(({ outcome }) => outcome === 'ok')
  if (done.length === 0) return
  const message = done.map(({ name, ms }) => `${name} ${ms} ms`).join(', ')
  yield { severity: 'ok', code: 'rights', subject: '', message }
}

export interface StoreExamination {
  readonly facts: StoreFacts
  /** Empty for a file that does not exist yet: examining must not create it. */
  readonly probe: readonly ProbeStep[]
  readonly findings: readonly Finding[]
}

/**
 * Examines a store: probes the operations that leasectl needs, and reads its settings.
 *
 * @param options `deep`: also slow checks, see `InspectOptions`
 * @throws the signal's reason, after the cleanup; faults of the store are findings
 */
export async function examineStore(
  store: StreamStore,
  { deep = false, ...options }: ProbeOptions & { readonly deep?: boolean },
): Promise<StoreExamination> {
  const { signal } = options
  const inspect = () => store.inspect({ deep, ...(signal === undefined ? {} : { signal }) })
  const file = store.address.startsWith('sqlite:') ? await inspect() : undefined
  const probe =
    file?.kind === 'sqlite' && !file.exists ? await probeMissing(store, options) : await probeStore(store, options)
  // Otherwise the probe comes first: only a write shows whether writes leave versions.
  const facts = file ?? (await inspect())
  const isReadable = probe.some(({ name, outcome }) => name === 'read' && outcome === 'ok')
  const own = isReadable ? await watchdogFindings(store, signal) : []
  return { facts, probe, findings: bounded([...storeFindings(facts, probe, store.nowMs()), ...own]) }
}

/** The document in which watchdogs keep their state: without it, `check` and `top` do not see them. */
async function watchdogFindings(store: StreamStore, signal: AbortSignal | undefined): Promise<readonly Finding[]> {
  const state = await readWatchdogState(store, signal).catch(error => {
    if (signal?.aborted || !(error instanceof LeasectlError)) throw error
    return { damaged: true, fault: error.message }
  })
  if (!state.damaged) return []
  const why = state.fault === undefined ? 'is damaged: unreadable parts are left out' : `cannot be read: ${state.fault}`
  const message = `the watchdog state ${WATCHDOG_STATE} ${why}`
  const hint = 'A running watchdog writes it anew; if none does, remove the blob.'
  return [{ severity: 'warning', code: 'watchdog-state', subject: '', message, hint }]
}

/** The probe of a file that does not exist, which must not create it: empty unless the file must exist. */
async function probeMissing(store: StreamStore, options: ProbeOptions): Promise<readonly ProbeStep[]> {
  const steps = await probeStore(store, { ...options, write: false })
  return steps.some(({ code }) => code === 'container-missing') ? steps : []
}
