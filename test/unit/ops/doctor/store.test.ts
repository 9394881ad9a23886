import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ProbeStep } from '../../../../src/ops/doctor/probe.ts'
import { examineStore, storeFindings } from '../../../../src/ops/doctor/store.ts'
import type { Finding } from '../../../../src/ops/doctor/stream.ts'
import { createSystemDocument } from '../../../../src/ops/system-documents.ts'
import { WATCHDOG_STATE } from '../../../../src/ops/watchdog-state/parse.ts'
import type { AzureFacts, SqliteFacts } from '../../../../src/store/facts.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'

const NOW = Date.UTC(2026, 2, 1, 12)
const MIB = 1024 * 1024
const HOUR = 3_600_000

const SQLITE: SqliteFacts = {
  kind: 'sqlite',
  address: 'sqlite:/data/s.db',
  path: '/data/s.db',
  exists: true,
  sqliteVersion: '3.51.3',
  mayWrite: true,
  size: MIB,
  walSize: 0,
  mode: 0o600,
  freeBytes: 256 * MIB,
  network: '',
  journalMode: 'wal',
  synchronous: 'full',
  schemaVersion: 2,
  unknown: {},
}

const AZURE: AzureFacts = {
  kind: 'azure',
  address: 'azure:acct/streams',
  emulator: false,
  container: 'streams',
  auth: { kind: 'sas', permissions: 'racwdl', expiresMs: NOW + 24 * HOUR + 1 },
  latencyMs: 12,
  clockAheadMs: -2_000,
  serviceVersion: '2025-11-05',
  accountKind: 'StorageV2',
  sku: 'Standard_LRS',
  hierarchicalNamespace: false,
  softDeleteDays: 0,
  versioning: false,
  publicAccess: 'none',
  immutabilityPolicy: false,
  legalHold: false,
  containerLease: 'available',
  unknown: {},
}

const STEPS: readonly ProbeStep[] = [
  { name: 'list', outcome: 'ok', ms: 3 },
  { name: 'read', outcome: 'ok', ms: 1.5 },
]

const complaints = (found: readonly Finding[]) =>
  found.filter(({ severity }) => severity !== 'ok').map(({ severity, code }) => `${severity} ${code}`)

test.each([
  ['sqlite', SQLITE],
  ['azure', AZURE],
  ['memory', { kind: 'memory', address: 'memory:', unknown: {} }],
] as const)('an intact store (%s) has no findings, and the report lists the checked facts', (_, facts) => {
  const found = storeFindings(facts, STEPS, NOW)
  expect(complaints(found)).toEqual([])
  expect(found).toContainEqual(expect.objectContaining({ code: 'rights', message: 'list 3 ms, read 1.5 ms' }))
})

describe('a file', () => {
  test.each([
    ['error sqlite-too-old', { mayWrite: false }],
    ['warning network-file-system', { network: 'NFS' }],
    ['warning disk-full', { freeBytes: 256 * MIB - 1 }],
    ['error disk-full', { freeBytes: 16 * MIB - 1 }],
    ['error hard-links', { names: 2 }],
    ['warning world-writable', { mode: 0o666 }],
    ['warning long-log', { walSize: 64 * MIB + 1 }],
    ['warning not-wal', { journalMode: 'delete' }],
    ['error store-damaged', { faults: ['Tree 4 page 9: btreeInitPage() returns error code 11'] }],
    ['warning not-checked', { unknown: { faults: 'killed' } }],
    ['info no-store-yet', { exists: false, creatable: true }],
    ['error not-permitted', { exists: false, creatable: false }],
  ] as const)('%s', (complaint, over) => {
    expect(complaints(storeFindings({ ...SQLITE, ...over }, STEPS, NOW))).toEqual([complaint])
  })

  test('a file that must exist and does not is an error, without the advice to create it', () => {
    const step = { name: 'list', outcome: 'failed', ms: 1, code: 'container-missing', message: 'no file' } as const
    const facts = { ...SQLITE, exists: false, creatable: true }
    expect(complaints(storeFindings(facts, [step], NOW))).toEqual(['error container-missing'])
  })

  test('unknown facts are not findings', () => {
    const { freeBytes: _, mode: __, network: ___, ...facts } = SQLITE
    expect(complaints(storeFindings({ ...facts, unknown: { freeBytes: 'ENOSYS' } }, STEPS, NOW))).toEqual([])
  })
})

describe('a container', () => {
  test.each([
    ['warning clock-skew', { clockAheadMs: -2_001 }],
    ['error clock-skew', { clockAheadMs: 30_001 }],
    ['warning versioning', { versioning: true }],
    ['warning soft-delete', { softDeleteDays: 7 }],
    ['warning public-access', { publicAccess: 'blob' }],
    ['error immutable', { legalHold: true }],
    ['error immutable', { immutabilityPolicy: true }],
    ['info container-lease', { containerLease: 'leased' }],
    ['warning sas-expires', { auth: { kind: 'sas', permissions: 'rwdl', expiresMs: NOW + 24 * HOUR } }],
    ['error sas-expired', { auth: { kind: 'sas', permissions: 'rwdl', expiresMs: NOW } }],
    ['warning sas-rights', { auth: { kind: 'sas', permissions: 'rw' } }],
    ['info not-known', { unknown: { softDeleteDays: 'AuthorizationFailure' } }],
  ] as const)('%s', (complaint, over) => {
    expect(complaints(storeFindings({ ...AZURE, ...over }, STEPS, NOW))).toEqual([complaint])
  })

  test.each([[{ kind: 'key' }], [{ kind: 'entra', source: 'cli' }], [{ kind: 'sas', permissions: '' }]] as const)(
    'the credential %j is fine',
    auth => {
      expect(complaints(storeFindings({ ...AZURE, auth }, STEPS, NOW))).toEqual([])
    },
  )

  test('a clock behind is distinguished from one ahead', () => {
    const skew = (clockAheadMs: number) => storeFindings({ ...AZURE, clockAheadMs }, [], NOW)[0]?.message
    expect(skew(5_000)).toContain('5s ahead of')
    expect(skew(-5_000)).toContain('5s behind')
  })

  test('a service that does not answer is reported once', () => {
    const { latencyMs: _, ...facts } = { ...AZURE, unknown: { publicAccess: 'ECONNREFUSED' } }
    const silent: ProbeStep = {
      name: 'list',
      outcome: 'failed',
      ms: 9,
      code: 'store-unreachable',
      message: 'no answer',
    }
    expect(complaints(storeFindings(facts, [silent], NOW))).toEqual(['error store-unreachable'])
  })
})

test('each step that was refused or failed is an error with its code, its message and advice', () => {
  const steps: readonly ProbeStep[] = [
    { name: 'list', outcome: 'refused', ms: 2, code: 'not-permitted', message: 'no access', hint: 'Ask for it.' },
    { name: 'create', outcome: 'failed', ms: 2, code: 'store-full', message: 'no room' },
    { name: 'lease', outcome: 'skipped', ms: 0 },
  ]
  expect(storeFindings({ kind: 'memory', address: 'memory:', unknown: {} }, steps, NOW)).toEqual([
    {
      severity: 'error',
      code: 'not-permitted',
      subject: 'list',
      message: 'cannot list streams: no access',
      hint: 'Ask for it.',
    },
    { severity: 'error', code: 'store-full', subject: 'create', message: 'cannot create a stream: no room' },
  ])
})

describe('the state of the watchdogs', () => {
  const OPTIONS = { write: false, newId: () => randomUUID(), actor: 'ann@web-2' }

  async function findingsWith(text: string | undefined) {
    const store = openMemoryStore({})
    if (text !== undefined) await createSystemDocument(store, WATCHDOG_STATE, text, { by: 'watchdog' })
    return complaints((await examineStore(store, OPTIONS)).findings)
  }

  test('is no complaint if there is none', async () => {
    expect(await findingsWith(undefined)).toEqual([])
  })

  test('is a warning if it cannot be read', async () => {
    expect(await findingsWith('{"watchdogs":')).toEqual(['warning watchdog-state'])
  })
})
