import type { AzureFacts } from '../../store/facts.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import type { Finding } from './finding.ts'

/** The service's time has whole seconds: a smaller skew cannot be measured. */
const SKEW_MS = 2_000
/** From here on claims and timeouts of programs that use their own clocks go wrong. */
const BAD_SKEW_MS = 30_000
const DAY_MS = 24 * 3_600_000

/** Findings about a container and its account. */
export function* azureFindings(facts: AzureFacts, nowMs: number): Generator<Finding> {
  yield* clockFindings(facts)
  yield* authFindings(facts, nowMs)
  yield* accessFindings(facts)
  yield* keepingFindings(facts)
  yield* lockFindings(facts)
  yield* accountFindings(facts)
}

function* clockFindings({ clockAheadMs }: AzureFacts): Generator<Finding> {
  if (clockAheadMs === undefined) return
  const size = Math.abs(clockAheadMs)
  if (size <= SKEW_MS) {
    yield { severity: 'ok', code: 'clock', subject: '', message: 'the clocks of this machine and the service agree' }
    return
  }
  yield {
    severity: size > BAD_SKEW_MS ? 'error' : 'warning',
    code: 'clock-skew',
    subject: '',
    message: `the clock of this machine is ${formatDuration(size)} ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the service's`,
    hint: 'leasectl goes by the service; other programs may not. Turn on time synchronization (NTP).',
  }
}

/** The SAS permissions that leasectl needs; c and w both allow creating. */
const NEEDED = ['r', 'l', 'w', 'd'] as const

function* authFindings({ auth }: AzureFacts, nowMs: number): Generator<Finding> {
  if (auth.kind !== 'sas') {
    const message = auth.kind === 'key' ? 'signs with the account key' : `signs in with Entra ID (${auth.source})`
    yield { severity: 'ok', code: 'credential', subject: '', message }
    return
  }
  const missing = auth.permissions === '' ? [] : NEEDED.filter(letter => !auth.permissions.includes(letter))
  if (missing.length > 0) {
    yield {
      severity: 'warning',
      code: 'sas-rights',
      subject: '',
      message: `the SAS permits ${auth.permissions}; missing: ${missing.join(' ')}`,
      hint: 'Reading needs r and l; changing also w, removing d.',
    }
  }
  yield* expiryFindings(auth.expiresMs, nowMs)
}

function* expiryFindings(expiresMs: number | undefined, nowMs: number): Generator<Finding> {
  const at = expiresMs === undefined ? 'by its stored access policy' : new Date(expiresMs).toISOString()
  const leftMs = (expiresMs ?? Number.POSITIVE_INFINITY) - nowMs
  if (leftMs > DAY_MS) {
    yield { severity: 'ok', code: 'credential', subject: '', message: `signs with a SAS that ends ${at}` }
    return
  }
  yield {
    severity: leftMs <= 0 ? 'error' : 'warning',
    code: leftMs <= 0 ? 'sas-expired' : 'sas-expires',
    subject: '',
    message: `the SAS ${leftMs <= 0 ? `ended ${at}` : `ends in ${formatDuration(leftMs)}, at ${at}`}`,
    hint: 'Put a fresh one into AZURE_STORAGE_SAS_TOKEN.',
  }
}

function* accessFindings({ publicAccess, container }: AzureFacts): Generator<Finding> {
  if (publicAccess === undefined || publicAccess === 'none') return
  const what = publicAccess === 'container' ? 'list and read everything in it' : 'read blobs of known names'
  yield {
    severity: 'warning',
    code: 'public-access',
    subject: '',
    message: `anyone on the internet can ${what}, without signing in`,
    hint: `az storage container set-permission --name ${container} --public-access off`,
  }
}

function* keepingFindings({ softDeleteDays = 0, versioning }: AzureFacts): Generator<Finding> {
  const hint = 'Streams are written often: use another account, or lifecycle rules that delete old versions soon.'
  if (versioning) {
    const message = 'versioning is on: every write, even a heartbeat, leaves a copy that is billed'
    yield { severity: 'warning', code: 'versioning', subject: '', message, hint }
  }
  if (softDeleteDays > 0) {
    const message = `soft delete is on: replaced content is kept and billed for ${softDeleteDays} days`
    yield { severity: 'warning', code: 'soft-delete', subject: '', message, hint }
  }
}

function* lockFindings({ immutabilityPolicy, legalHold, containerLease }: AzureFacts): Generator<Finding> {
  if (immutabilityPolicy || legalHold) {
    yield {
      severity: 'error',
      code: 'immutable',
      subject: '',
      message: `${immutabilityPolicy ? 'an immutability policy' : 'a legal hold'} protects the container: streams cannot be changed`,
      hint: 'Use a container without one.',
    }
  }
  if (containerLease === undefined || !/^(leased|breaking)$/.test(containerLease)) return
  const message = 'the container itself is leased: it cannot be deleted; streams are not affected'
  yield { severity: 'info', code: 'container-lease', subject: '', message }
}

function* accountFindings(facts: AzureFacts): Generator<Finding> {
  const { emulator, accountKind, sku, hierarchicalNamespace, serviceVersion, latencyMs, unknown } = facts
  const parts = [
    ...(emulator ? ['emulator'] : []),
    ...(accountKind === undefined ? [] : [accountKind]),
    ...(sku === undefined ? [] : [sku]),
    ...(hierarchicalNamespace ? ['hierarchical namespace'] : []),
    ...(serviceVersion === undefined ? [] : [`service ${serviceVersion}`]),
    ...(latencyMs === undefined ? [] : [`answers in ${Math.round(latencyMs)} ms`]),
  ]
  if (parts.length > 0) yield { severity: 'ok', code: 'account', subject: '', message: parts.join(', ') }
  const names = Object.keys(unknown)
  // The probe reports a service that does not answer.
  if (names.length === 0 || latencyMs === undefined) return
  const reasons = [...new Set(Object.values(unknown))].join('; ')
  yield {
    severity: 'info',
    code: 'not-known',
    subject: '',
    message: `could not be determined: ${names.join(', ')} (${reasons})`,
  }
}
