import { hostname } from 'node:os'
import { NotPermitted } from '../../store/errors.ts'
import type { Holder, StreamStore } from '../../store/store.ts'
import { EMPTY_DOCUMENT } from '../../stream/document.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { summarize } from '../../stream/summarize.ts'

export interface ProbeOptions {
  /** Also create, lease, write and remove a small stream below `.leasectl/probe/`. */
  readonly write: boolean
  /** Returns a fresh UUID. */
  readonly newId: () => string
  /** Actor, `user@host`. */
  readonly actor: string
  readonly signal?: AbortSignal
}

/**
 * Tries the operations that leasectl needs of a store: list, read, create, lease, write under the lease, release,
 * remove. A step runs if the steps before make it possible; a refused step reports the missing permission. The probe
 * removes what it created, even after a failure or an interruption.
 *
 * @returns one step each, in this order; without `write` only list and read. Faults of the store are steps, not errors
 * @throws the signal's reason when it fires, after the removal
 */
export async function probeStore(store: StreamStore, options: ProbeOptions): Promise<readonly ProbeStep[]> {
  const probe = new Probe(store, options)
  await probe.look()
  if (options.write) await probe.write()
  options.signal?.throwIfAborted()
  return probe.steps
}

/** Time limit of one step, ms: shorter than the retries of the driver, so that an unanswering store is reported soon. */
const STEP_MS = 15_000
/** The shortest lease there is. */
const LEASE_S = 15

/** The comment explains the document to anyone who finds it. */
const BODY = Buffer.from('<!-- leasectl tested its rights with this; it may be deleted -->\n<EventStream/>\n')

/** After these faults every other step would fail in the same way, some of them slowly. */
const HOPELESS: ReadonlySet<string | undefined> = new Set([
  'store-unreachable',
  'container-missing',
  'store-damaged',
  'store-incompatible',
  'bad-address',
])

type Run = (signal: AbortSignal) => Promise<void>

class Probe {
  readonly steps: ProbeStep[] = []
  readonly #store: StreamStore
  readonly #options: ProbeOptions
  readonly #name: string
  #isHopeless = false
  /** The stream may exist and needs removal. */
  #created = false
  /** The id of a lease that may be held. */
  #leaseId: string | undefined

  constructor(store: StreamStore, options: ProbeOptions) {
    this.#store = store
    this.#options = options
    this.#name = `.leasectl/probe/${options.newId()}`
  }

  /** Lists, and reads a name that is free: a stream may be unreadable in a store that is not. */
  async look(): Promise<void> {
    await this.#step('list', async signal => {
      for await (const _ of this.#store.list({ limit: 1, signal }));
    })
    await this.#step('read', async signal => void (await this.#store.read(this.#name, signal)))
  }

  async write(): Promise<void> {
    const created = await this.#step('create', signal => this.#create(signal))
    const leased = await this.#step('lease', signal => this.#acquire(signal), created)
    await this.#step('write', signal => this.#rewrite(signal), leased)
    await this.#step('release', signal => this.#release(signal), leased)
    // The removal always runs and ignores the caller's signal.
    if (this.#created) await this.#try('remove', signal => this.#remove(signal), AbortSignal.timeout(STEP_MS))
    else this.#skip('remove')
  }

  /** Returns true on success. An impossible step is skipped. */
  async #step(name: Probed, run: Run, sensible = true): Promise<boolean> {
    const { signal } = this.#options
    if (sensible && !this.#isHopeless && !signal?.aborted) {
      const limit = AbortSignal.timeout(STEP_MS)
      return this.#try(name, run, signal === undefined ? limit : AbortSignal.any([signal, limit]))
    }
    this.#skip(name)
    return false
  }

  #skip(name: Probed): void {
    this.steps.push({ name, outcome: 'skipped', ms: 0 })
  }

  async #try(name: Probed, run: Run, signal: AbortSignal): Promise<boolean> {
    const startedMs = performance.now()
    const took = () => Math.round((performance.now() - startedMs) * 10) / 10
    try {
      await run(signal)
      this.steps.push({ name, outcome: 'ok', ms: took() })
      return true
    } catch (error) {
      if (this.#options.signal?.aborted && name !== 'remove') this.#skip(name)
      else this.steps.push({ ...unsuccessful(name, error), ms: took() })
      this.#isHopeless ||= HOPELESS.has(this.steps.at(-1)?.code)
      return false
    }
  }

  async #create(signal: AbortSignal): Promise<void> {
    const outcome = await this.#store.create(this.#name, BODY, this.#summary, signal)
    this.#created = outcome.kind !== 'exists'
    if (outcome.kind !== 'created') throw new UnexpectedOutcome(outcome)
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    const leaseId = this.#options.newId()
    this.#leaseId = leaseId
    const lease = { leaseId, durationS: LEASE_S, holder: this.#holder, signal }
    const outcome = await this.#store.acquireLease(this.#name, lease)
    if (outcome.kind !== 'acquired') throw new UnexpectedOutcome(outcome)
  }

  async #rewrite(signal: AbortSignal): Promise<void> {
    const decide = () => ({ kind: 'put', body: BODY, summary: this.#summary }) as const
    const options = { waitMs: 0, holder: this.#holder, ...this.#lease, signal }
    const outcome = await this.#store.update(this.#name, decide, options)
    if (outcome.kind !== 'committed') throw new UnexpectedOutcome(outcome)
  }

  async #release(signal: AbortSignal): Promise<void> {
    const outcome = await this.#store.releaseLease(this.#name, this.#leaseId ?? '', signal)
    if (outcome.kind !== 'ok') throw new UnexpectedOutcome(outcome)
    this.#leaseId = undefined
  }

  /** Removes the stream under the lease if it may still be held, and without it if it is lost. */
  async #remove(signal: AbortSignal): Promise<void> {
    const first = await this.#store.remove(this.#name, { ...this.#lease, signal })
    const outcome = first.kind === 'lost' ? await this.#store.remove(this.#name, { signal }) : first
    if (outcome.kind !== 'removed' && outcome.kind !== 'missing') throw new UnexpectedOutcome(outcome)
  }

  get #summary() {
    return summarize(EMPTY_DOCUMENT, { nowMs: this.#store.nowMs(), lastBy: this.#options.actor })
  }

  get #holder(): Holder {
    const { actor } = this.#options
    return { by: actor, host: hostname(), pid: process.pid, purpose: 'probe', sinceMs: this.#store.nowMs() }
  }

  get #lease() {
    return this.#leaseId === undefined ? {} : { leaseId: this.#leaseId }
  }
}

/** The steps of a probe, in order. The first two change nothing. */
const PROBED = ['list', 'read', 'create', 'lease', 'write', 'release', 'remove'] as const
type Probed = (typeof PROBED)[number]

/** One step of a probe and its outcome. */
export interface ProbeStep {
  readonly name: Probed
  /** `refused`: the permission is missing. `failed`: any other fault. `skipped`: a step before made it impossible. */
  readonly outcome: 'ok' | 'refused' | 'failed' | 'skipped'
  /** Duration, ms; 0 if skipped. */
  readonly ms: number
  /** For a refused or failed step: a stable code, as in errors and outcomes. */
  readonly code?: string
  readonly message?: string
  /** How to fix it, a sentence. */
  readonly hint?: string
}

/** An outcome of the store that contradicts the probe's unique name. */
class UnexpectedOutcome extends Error {
  readonly code: string

  constructor({ kind, cause }: { readonly kind: string; readonly cause?: unknown }) {
    const isUnanswered = kind === 'unknown'
    super(isUnanswered ? 'the answer never came' : `the store says "${kind}"`, { cause })
    this.code = isUnanswered ? 'store-unreachable' : 'probe-failed'
  }
}

/** The fault of a step. Bugs are rethrown. */
function unsuccessful(name: Probed, error: unknown): Omit<ProbeStep, 'ms'> {
  if (error instanceof UnexpectedOutcome) return { name, outcome: 'failed', code: error.code, message: error.message }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    const hint = 'Try again; if it persists, check the network and other load on the store.'
    return { name, outcome: 'failed', code: 'store-unreachable', message: 'no answer in time', hint }
  }
  if (!(error instanceof LeasectlError)) throw error
  const { code, message, hint } = error
  const refused = error instanceof NotPermitted
  const advice = refused ? (rightMissing(name, error) ?? hint) : hint
  return {
    name,
    outcome: refused ? 'refused' : 'failed',
    code,
    message,
    ...(advice === undefined ? {} : { hint: advice }),
  }
}

/** The service codes for a valid credential without the permission, be it a role or a SAS permission. */
const RIGHT_MISSING = /^Authorization(Permission|ResourceType|Service)Mismatch$/

const CONTRIBUTOR = 'Storage Blob Data Contributor'
/** The built-in role and the SAS permission for each step. */
const RIGHTS: { readonly [Name in Probed]: readonly [role: string, letter: string] } = {
  list: ['Storage Blob Data Reader', 'l'],
  read: ['Storage Blob Data Reader', 'r'],
  create: [CONTRIBUTOR, 'c'],
  lease: [CONTRIBUTOR, 'w'],
  write: [CONTRIBUTOR, 'w'],
  release: [CONTRIBUTOR, 'w'],
  remove: [CONTRIBUTOR, 'd'],
}

function rightMissing(name: Probed, { serviceCode }: NotPermitted): string | undefined {
  if (serviceCode === undefined || !RIGHT_MISSING.test(serviceCode)) return undefined
  const [role, letter] = RIGHTS[name]
  return `Ask for the role ${role} on this container, or for a SAS with the permission ${letter}.`
}
