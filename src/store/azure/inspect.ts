import { defined } from '../../util/defined.ts'
import { FactCollector } from '../fact-finder.ts'
import type { AzureAuth, AzureFacts } from '../facts.ts'
import type { AzureContainer } from './client.ts'
import type { AzureCredential } from './credential.ts'
import type { ServiceError } from './errors.ts'
import type { AzureRequests } from './requests.ts'

/** The field that all answers share. */
interface AnyAnswer {
  readonly version?: string
}

/**
 * Collects the facts about a container and its account. Each request is sent once; facts whose request is unanswered or not
 * permitted are in `unknown`.
 * @throws the signal's reason when it aborts
 */
export async function inspectAzure(
  parts: { readonly container: AzureContainer; readonly calls: AzureRequests; readonly credential: AzureCredential },
  known: Pick<AzureFacts, 'address' | 'versioning'>,
  signal: AbortSignal | undefined,
): Promise<AzureFacts> {
  const { container, calls, credential } = parts
  const finder = new FactCollector<AzureFacts>(signal)
  const requests = new MeasuredRequests(calls, signal)
  await finder.learn(['publicAccess', 'immutabilityPolicy', 'legalHold', 'containerLease'], async () =>
    containerFacts(await requests.answer(abortSignal => container.client.getProperties({ abortSignal }))),
  )
  await finder.learn(['accountKind', 'sku', 'hierarchicalNamespace'], async () =>
    accountFacts(await requests.answer(abortSignal => container.client.getAccountInfo({ abortSignal }))),
  )
  await finder.learn(['softDeleteDays'], async () =>
    serviceFacts(await requests.answer(abortSignal => container.service().getProperties({ abortSignal }))),
  )
  const { site } = calls
  return {
    kind: 'azure',
    emulator: site.emulator,
    container: site.container,
    auth: authOf(credential),
    ...known,
    ...requests.facts,
    ...finder.facts,
    unknown: {
      ...finder.unknown,
      ...(known.versioning === undefined ? { versioning: 'known only after a write' } : {}),
    },
  }
}

/** Sends requests once each, and records latency, clock offset and protocol version from their answers. */
class MeasuredRequests {
  facts: Pick<AzureFacts, 'latencyMs' | 'clockAheadMs' | 'serviceVersion'> = {}
  readonly #calls: AzureRequests
  readonly #signal: AbortSignal | undefined
  /** The service does not answer: further requests would only wait for the same limit. */
  #unanswered: ServiceError | undefined

  constructor(calls: AzureRequests, signal: AbortSignal | undefined) {
    this.#calls = calls
    this.#signal = signal
  }

  async answer<T extends AnyAnswer>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#unanswered !== undefined) throw this.#unanswered
    const { machine, clock, limits } = this.#calls
    const sentMs = machine.monotonicMs()
    const answer = await this.#calls.send(send, { limitMs: limits.leaseMs, signal: this.#signal })
    // A refusal is an answer too: it has a latency and the service's time.
    if (answer.kind === 'done' || answer.error.status !== undefined) {
      const tookMs = Math.round((machine.monotonicMs() - sentMs) * 10) / 10
      const latencyMs = Math.min(tookMs, this.facts.latencyMs ?? tookMs)
      this.facts = { ...this.facts, latencyMs, clockAheadMs: Math.round(machine.wallMs() - clock.nowMs()) }
    }
    if (answer.kind !== 'done') {
      if (answer.error.status === undefined) this.#unanswered = answer.error
      throw answer.error
    }
    if (answer.value.version !== undefined) this.facts = { ...this.facts, serviceVersion: answer.value.version }
    return answer.value
  }
}

type ContainerProperties = Awaited<ReturnType<AzureContainer['client']['getProperties']>>
type AccountInfo = Awaited<ReturnType<AzureContainer['client']['getAccountInfo']>>
type ServiceProperties = Awaited<ReturnType<ReturnType<AzureContainer['service']>['getProperties']>>

function containerFacts(found: ContainerProperties): Partial<AzureFacts> {
  return {
    publicAccess: found.blobPublicAccess ?? 'none',
    ...defined({
      immutabilityPolicy: found.hasImmutabilityPolicy,
      legalHold: found.hasLegalHold,
      containerLease: found.leaseState,
    }),
    // Version-level immutability requires blob versioning.
    ...(found.isImmutableStorageWithVersioningEnabled ? { versioning: true } : {}),
  }
}

function accountFacts({ accountKind, skuName, isHierarchicalNamespaceEnabled }: AccountInfo): Partial<AzureFacts> {
  return defined({ accountKind, sku: skuName, hierarchicalNamespace: isHierarchicalNamespaceEnabled })
}

function serviceFacts({ deleteRetentionPolicy: kept }: ServiceProperties): Partial<AzureFacts> {
  if (kept === undefined) return {}
  return { softDeleteDays: kept.enabled ? (kept.days ?? 0) : 0 }
}

function authOf(credential: AzureCredential): AzureAuth {
  switch (credential.kind) {
    case 'key':
      return { kind: 'key' }
    case 'sas': {
      const permissions = new URLSearchParams(credential.token).get('sp') ?? ''
      const { expiresMs } = credential
      return { kind: 'sas', permissions, ...defined({ expiresMs }) }
    }
    case 'entra':
      return { kind: 'entra', source: credential.source.kind }
    default:
      return credential satisfies never
  }
}
