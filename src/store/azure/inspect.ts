import { defined } from '../../util/defined.ts'
import { FactCollector } from '../fact-finder.ts'
import type { AzureAuth, AzureFacts } from '../facts.ts'
import type { AzureCredential } from './account.ts'
import type { AzureContainer } from './client.ts'
import type { ServiceError } from './errors.ts'
import type { AzureRequests } from './requests.ts'

/** What an answer says besides what was asked for. */
interface AnyAnswer {
  readonly version?: string
}

/**
 * What is to be known of a container and its account. Each question is asked once: what is not answered, or asked
 * without the right to, is among the unknown facts.
 * @throws the signal's reason when it fires
 */
export async function inspectAzure(
  parts: { readonly container: AzureContainer; readonly calls: AzureRequests; readonly credential: AzureCredential },
  known: Pick<AzureFacts, 'address' | 'versioning'>,
  signal: AbortSignal | undefined,
): Promise<AzureFacts> {
  const { container, calls, credential } = parts
  const finder = new FactCollector<AzureFacts>(signal)
  const asked = new Questions(calls, signal)
  await finder.learn(['publicAccess', 'immutabilityPolicy', 'legalHold', 'containerLease'], async () =>
    containerFacts(await asked.answer(abortSignal => container.client.getProperties({ abortSignal }))),
  )
  await finder.learn(['accountKind', 'sku', 'hierarchicalNamespace'], async () =>
    accountFacts(await asked.answer(abortSignal => container.client.getAccountInfo({ abortSignal }))),
  )
  await finder.learn(['softDeleteDays'], async () =>
    serviceFacts(await asked.answer(abortSignal => container.service().getProperties({ abortSignal }))),
  )
  const { site } = calls
  return {
    kind: 'azure',
    emulator: site.emulator,
    container: site.container,
    auth: authOf(credential),
    ...known,
    ...asked.facts,
    ...finder.facts,
    unknown: { ...finder.unknown, ...(known.versioning === undefined ? { versioning: 'only a write tells' } : {}) },
  }
}

/** Sends requests once each, and keeps what their answers tell by the way. */
class Questions {
  facts: Pick<AzureFacts, 'latencyMs' | 'clockAheadMs' | 'serviceVersion'> = {}
  readonly #calls: AzureRequests
  readonly #signal: AbortSignal | undefined
  /** Nobody answers: further questions would only wait for the same. */
  #silence: ServiceError | undefined

  constructor(calls: AzureRequests, signal: AbortSignal | undefined) {
    this.#calls = calls
    this.#signal = signal
  }

  async answer<T extends AnyAnswer>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#silence !== undefined) throw this.#silence
    const { machine, clock, limits } = this.#calls
    const sentMs = machine.monotonicMs()
    const answer = await this.#calls.send(send, { limitMs: limits.leaseMs, signal: this.#signal })
    // A refusal is an answer too: it took its time and carries the service's.
    if (answer.kind === 'done' || answer.error.status !== undefined) {
      const tookMs = Math.round((machine.monotonicMs() - sentMs) * 10) / 10
      const latencyMs = Math.min(tookMs, this.facts.latencyMs ?? tookMs)
      this.facts = { ...this.facts, latencyMs, clockAheadMs: Math.round(machine.wallMs() - clock.nowMs()) }
    }
    if (answer.kind !== 'done') {
      if (answer.error.status === undefined) this.#silence = answer.error
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
    // Immutability of single versions is only to be had where there are versions.
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
