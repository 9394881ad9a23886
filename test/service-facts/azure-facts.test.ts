import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerProblem, type RawAnswer } from '../../src/store/azure/answers.ts'
import { ServiceError } from '../../src/store/azure/errors.ts'
import { trustRow } from '../guarantees/record.ts'
import { LIVE_STORE, NOT_LIVE, type TestAccount, testAccount } from '../support/live-store.ts'

/**
 * The behavior of the Blob service that the driver relies on: not our code, the service itself. Runs against Azurite,
 * or against the account that LEASECTL_LIVE_STORE names.
 */
const A = '00000000-0000-4000-8000-00000000000a'
const B = '00000000-0000-4000-8000-00000000000b'
const LEASE_S = 15

type State = 'available' | 'leased' | 'breaking' | 'broken' | 'expired' | 'overwritten'
const STATES: readonly State[] = ['available', 'leased', 'breaking', 'broken', 'expired', 'overwritten']

let account: TestAccount
let container: ContainerClient

beforeAll(async () => {
  if (LIVE_STORE === undefined) trustRow('ambiguity').skipped('the facts on a live account', NOT_LIVE)
  account = await testAccount()
  container = (await account.service()).getContainerClient(account.newContainer())
  await container.create()
})

afterAll(() => container.delete())

let made = 0

async function blob(): Promise<BlockBlobClient> {
  made += 1
  const client = container.getBlockBlobClient(`blob/${made}`)
  await client.upload('body', 4, { blobHTTPHeaders: { blobContentType: 'application/xml' }, metadata: { one: '1' } })
  return client
}

const lease = (on: BlockBlobClient, id = A) => on.getBlobLeaseClient(id)

/** Brings a fresh blob into a state with a lease of A. Expired leases take time: they are requested first, together. */
async function inState(state: State): Promise<BlockBlobClient> {
  const client = await blob()
  if (state === 'available') return client
  await lease(client).acquireLease(LEASE_S)
  if (state === 'breaking') await lease(client).breakLease(30)
  if (state === 'broken') await lease(client).breakLease(0)
  if (state === 'expired' || state === 'overwritten') await expired(client)
  if (state === 'overwritten') await client.upload('other', 5)
  return client
}

/** Azurite is exact; the service may take up to a minute longer. */
async function expired(client: BlockBlobClient): Promise<void> {
  await sleep(LEASE_S * 1_000 + 200)
  while ((await client.getProperties()).leaseState !== 'expired') await sleep(account.isEmulator ? 100 : 2_000)
}

/** The status and the code, `201` or `409 LeaseAlreadyPresent`. */
async function answer(work: Promise<object>): Promise<string> {
  try {
    return String(((await work) as { _response: { status: number } })._response.status)
  } catch (thrown) {
    const error = ServiceError.of(thrown)
    return `${error.status} ${error.code}`
  }
}

type Act = (on: BlockBlobClient) => Promise<object>
/** The answer of the service; if Azurite is known to differ, `[service, azurite]`. */
type Cell = string | readonly [service: string, azurite: string]
type Row = readonly [what: string, act: Act, cells: Readonly<Partial<Record<State, Cell>>>]

const MISMATCH = '409 LeaseIdMismatchWithLeaseOperation'
const ABSENT = '409 LeaseNotPresentWithLeaseOperation'
const PRESENT = '409 LeaseAlreadyPresent'
const UNRENEWABLE = '409 LeaseIsBrokenAndCannotBeRenewed'
const NO_LEASE = '412 LeaseNotPresentWithBlobOperation'
const NEEDS_ID = '412 LeaseIdMissing'

const put = (on: BlockBlobClient, conditions: object) => on.upload('new', 3, { conditions })

const LEASE_ROWS: readonly Row[] = [
  [
    'acquire another id',
    on => lease(on, B).acquireLease(LEASE_S),
    { available: '201', leased: PRESENT, breaking: PRESENT, broken: '201', expired: '201', overwritten: '201' },
  ],
  [
    'acquire the same id',
    on => lease(on).acquireLease(LEASE_S),
    {
      available: '201',
      leased: '201',
      breaking: '409 LeaseIsBreakingAndCannotBeAcquired',
      broken: '201',
      expired: '201',
      overwritten: '201',
    },
  ],
  [
    'renew the id',
    on => lease(on).renewLease(),
    {
      available: MISMATCH,
      leased: '200',
      breaking: UNRENEWABLE,
      broken: UNRENEWABLE,
      expired: '200',
      overwritten: MISMATCH,
    },
  ],
  [
    'renew another id',
    on => lease(on, B).renewLease(),
    {
      available: MISMATCH,
      leased: MISMATCH,
      breaking: MISMATCH,
      broken: MISMATCH,
      expired: [MISMATCH, '200'],
      overwritten: MISMATCH,
    },
  ],
  [
    'release the id',
    on => lease(on).releaseLease(),
    { available: MISMATCH, leased: '200', breaking: '200', broken: '200', expired: '200', overwritten: MISMATCH },
  ],
  [
    'release another id',
    on => lease(on, B).releaseLease(),
    { leased: MISMATCH, breaking: MISMATCH, broken: MISMATCH, expired: MISMATCH },
  ],
  [
    'change the id',
    on => lease(on).changeLease(B),
    { available: ABSENT, leased: '200', breaking: '409 LeaseIsBreakingAndCannotBeChanged' },
  ],
  ['change another id to the id', on => lease(on, B).changeLease(A), { leased: '200' }],
  [
    'break at once',
    on => lease(on).breakLease(0),
    { available: ABSENT, leased: '202', breaking: '202', broken: '202', expired: '202', overwritten: ABSENT },
  ],
  [
    'break later',
    on => lease(on).breakLease(10),
    { available: ABSENT, leased: '202', breaking: '202', broken: '202', expired: '202', overwritten: ABSENT },
  ],
]

const BLOB_ROWS: readonly Row[] = [
  [
    'write with the id',
    on => put(on, { leaseId: A }),
    { available: NO_LEASE, leased: '201', breaking: '201', broken: NO_LEASE, expired: ['412 LeaseLost', NO_LEASE] },
  ],
  [
    'delete with the id',
    on => on.delete({ conditions: { leaseId: A } }),
    { available: NO_LEASE, leased: '202', breaking: '202', broken: NO_LEASE, expired: ['412 LeaseLost', NO_LEASE] },
  ],
  [
    'write without an id',
    on => put(on, {}),
    { available: '201', leased: NEEDS_ID, breaking: NEEDS_ID, broken: '201', expired: '201' },
  ],
  [
    'delete without an id',
    on => on.delete(),
    { available: '202', leased: NEEDS_ID, breaking: NEEDS_ID, broken: '202', expired: '202' },
  ],
  [
    'create over it',
    on => put(on, { ifNoneMatch: '*' }),
    {
      available: '409 BlobAlreadyExists',
      leased: [NEEDS_ID, '409 BlobAlreadyExists'],
      broken: '409 BlobAlreadyExists',
      expired: '409 BlobAlreadyExists',
    },
  ],
  [
    'write with the id on another ETag',
    on => put(on, { leaseId: A, ifMatch: '"0x1"' }),
    { leased: '412 ConditionNotMet', breaking: '412 ConditionNotMet' },
  ],
  [
    'read',
    on => on.getProperties(),
    { available: '200', leased: '200', breaking: '200', broken: '200', expired: '200' },
  ],
]

const cells = [...LEASE_ROWS, ...BLOB_ROWS].flatMap(([what, act, row]) =>
  STATES.flatMap(state => (row[state] === undefined ? [] : [{ what, act, state, cell: row[state] }])),
)

const expectedOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell[account.isEmulator ? 1 : 0])

/** The cells that need an expired lease share one wait, in parallel with the other tests. */
const slow = (state: State): boolean => state === 'expired' || state === 'overwritten'
const waiting = new Map<string, Promise<BlockBlobClient>>()

beforeAll(() => {
  const keys = [
    ...cells.filter(({ state }) => slow(state)).map(({ what, state }) => [what, state] as const),
    ...SLOW_EXTRAS,
  ]
  for (const [what, state] of keys) waiting.set(`${what}, ${state}`, inState(state))
})

const SLOW_EXTRAS = [
  ['a write with another id', 'expired'],
  ['a write without an id', 'expired'],
] as const

const prepared = (what: string, state: State): Promise<BlockBlobClient> =>
  waiting.get(`${what}, ${state}`) ?? inState(state)

function describeCells(title: string, these: typeof cells): void {
  describe(title, { timeout: 120_000 }, () => {
    it.each(these)('$what, $state: $cell', async ({ what, act, state, cell }) => {
      expect(await answer(act(await prepared(what, state)))).toBe(expectedOf(cell))
    })
  })
}

function describeForeignWrites(states: readonly State[]): void {
  it.each(states)('a write with another id, %s, is refused', { timeout: 120_000 }, async state => {
    const said = await answer(put(await prepared('a write with another id', state), { leaseId: B }))
    expect(said).toMatch(/^(412|409) Lease(IdMismatchWithBlobOperation|NotPresentWithBlobOperation|Lost)$/)
  })
  it.each(states.filter(state => state === 'broken' || state === 'expired'))(
    'a write without an id makes a lease that is %s available',
    { timeout: 120_000 },
    async state => {
      const client = await prepared('a write without an id', state)
      await put(client, {})
      expect((await client.getProperties()).leaseState).toBe('available')
    },
  )
}

describeCells(
  'each operation in each state',
  cells.filter(({ state }) => !slow(state)),
)
describeForeignWrites(['leased', 'breaking', 'broken'])

describe('missing', () => {
  it('a blob is 404 BlobNotFound for lease operations and reads, also for a HEAD, which has no body', async () => {
    const absent = container.getBlockBlobClient('absent')
    expect(await answer(lease(absent).acquireLease(LEASE_S))).toBe('404 BlobNotFound')
    expect(await answer(absent.download())).toBe('404 BlobNotFound')
    expect(await answer(absent.getProperties())).toBe('404 BlobNotFound')
    expect(await answer(absent.delete())).toBe('404 BlobNotFound')
  })

  it('a write with a lease id to a missing blob does not create it (Azurite: it does)', async () => {
    const said = await answer(put(container.getBlockBlobClient(`absent-${randomUUID()}`), { leaseId: A }))
    expect(said).toMatch(account.isEmulator ? /^201$/ : /^412/)
  })

  it('a write with If-Match to a missing blob does not create it', async () => {
    const absent = container.getBlockBlobClient('absent')
    expect(await answer(put(absent, { ifMatch: '"0x1"' }))).toMatch(/^(412|404) /)
    expect(await absent.exists()).toBe(false)
  })

  it('a container is 404 ContainerNotFound', async () => {
    const absent = (await account.service()).getContainerClient('there-is-none').getBlockBlobClient('x')
    expect(await answer(absent.download())).toBe('404 ContainerNotFound')
    expect(await answer(lease(absent).acquireLease(LEASE_S))).toBe('404 ContainerNotFound')
    expect(await answer(put(absent, { ifNoneMatch: '*' }))).toBe('404 ContainerNotFound')
  })
})

describe('leases', () => {
  it('acquire returns the current ETag, and no lease operation changes it or Last-Modified', async () => {
    const client = await blob()
    const before = await client.getProperties()
    const acquired = await lease(client).acquireLease(LEASE_S)
    expect(acquired.etag).toBe(before.etag)
    await lease(client).renewLease()
    await lease(client).changeLease(B)
    await lease(client, B).breakLease(0)
    await lease(client, B).releaseLease()
    const after = await client.getProperties()
    expect([after.etag, after.lastModified]).toEqual([before.etag, before.lastModified])
  })

  it('a read beside an acquire has the same ETag, unless there was a write between them', async () => {
    const client = await blob()
    const [acquired, read] = await Promise.all([lease(client).acquireLease(LEASE_S), client.download()])
    expect(read.etag).toBe(acquired.etag)
  })

  it('duration is 15 to 60 s or -1', async () => {
    for (const duration of [14, 61, 0, -2])
      expect(await answer(lease(await blob()).acquireLease(duration))).toMatch(/^400 /)
    for (const duration of [15, 60, -1]) expect(await answer(lease(await blob()).acquireLease(duration))).toBe('201')
  })

  it('break without a period ends an infinite lease at once and lets a finite one expire', async () => {
    const infinite = await blob()
    await lease(infinite).acquireLease(-1)
    expect((await lease(infinite).breakLease(undefined as unknown as number)).leaseTime).toBe(0)
    const finite = await blob()
    await lease(finite).acquireLease(60)
    expect((await lease(finite).breakLease(undefined as unknown as number)).leaseTime).toBeGreaterThan(50)
  })

  it('a break period is limited to the remaining time and can only be shortened', async () => {
    const client = await blob()
    await lease(client).acquireLease(LEASE_S)
    expect((await lease(client).breakLease(60)).leaseTime).toBeLessThanOrEqual(LEASE_S)
    expect((await lease(client).breakLease(5)).leaseTime).toBeLessThanOrEqual(5)
    expect((await lease(client).breakLease(60)).leaseTime).toBeLessThanOrEqual(5)
  })

  it('of 24 racers exactly one acquires, ten times over', async () => {
    for (let round = 0; round < 10; round += 1) {
      const client = await blob()
      const said = await Promise.all(
        Array.from({ length: 24 }, () => answer(lease(client, randomUUID()).acquireLease(LEASE_S))),
      )
      expect(said.filter(one => one === '201')).toHaveLength(1)
      expect(said.filter(one => one === PRESENT)).toHaveLength(23)
    }
  })

  it('of 24 writes on one ETag exactly one is applied', async () => {
    const client = await blob()
    const { etag = '' } = await client.getProperties()
    const said = await Promise.all(Array.from({ length: 24 }, () => answer(put(client, { ifMatch: etag }))))
    expect(said.filter(one => one === '201')).toHaveLength(1)
    expect(said.filter(one => one === '412 ConditionNotMet')).toHaveLength(23)
  })
})

describe('writes and listings', () => {
  it('a put replaces all metadata and content headers, and keeps the lease', async () => {
    const client = await blob()
    await lease(client).acquireLease(LEASE_S)
    await client.upload('new', 3, { conditions: { leaseId: A }, metadata: { two: '2' } })
    const found = await client.getProperties()
    expect(found.metadata).toEqual({ two: '2' })
    expect(found.contentType).toBe('application/octet-stream')
    expect(found.leaseState).toBe('leased')
  })

  it('set metadata changes the ETag and leaves body and content headers', async () => {
    const client = await blob()
    const before = await client.getProperties()
    await client.setMetadata({ two: '2' }, { conditions: { ifMatch: before.etag ?? '' } })
    const after = await client.getProperties()
    expect(after.etag).not.toBe(before.etag)
    expect(after.metadata).toEqual({ two: '2' })
    expect(after.contentType).toBe('application/xml')
    expect((await client.downloadToBuffer()).toString()).toBe('body')
  })

  it('a wrong MD5 of the body is refused, and nothing is written', async () => {
    const client = await blob()
    const transactionalContentMD5 = new Uint8Array(16)
    expect(await answer(client.upload('new', 3, { transactionalContentMD5 }))).toBe('400 Md5Mismatch')
    expect((await client.downloadToBuffer()).toString()).toBe('body')
  })

  it('an answer has a Date, listings have ETag, size, MD5 computed by the service, lease state and metadata', async () => {
    const client = await blob()
    const { date } = await lease(client).acquireLease(LEASE_S)
    expect(date).toBeInstanceOf(Date)
    const { value } = await container.listBlobsFlat({ includeMetadata: true, prefix: client.name }).byPage().next()
    const item = value?.segment.blobItems[0]
    expect(item?.properties).toMatchObject({ contentLength: 4, leaseState: 'leased', leaseDuration: 'fixed' })
    expect(Buffer.from(item?.properties.contentMD5 ?? []).toString('hex')).toBe('841a2d689ad86bd1611447453c22c6fc')
    expect(item?.metadata).toEqual({ one: '1' })
  })

  it('every answer has x-ms-request-id, and an ETag if the operation was on one existing blob or container', async () => {
    const [target, client] = [await blob(), (await account.service()).getContainerClient(account.newContainer())]
    const [lease, stale] = [target.getBlobLeaseClient(A), { conditions: { ifMatch: '"0x1"' } }]
    const requests: readonly (() => Promise<{ readonly _response: RawAnswer }>)[] = [
      () => target.upload('body', 4),
      () => target.upload('body', 4, stale),
      () => target.download(),
      () => target.download(0, 1),
      () => target.download(0, undefined, stale),
      () => target.getProperties(),
      () => target.setMetadata({ two: '2' }),
      () => lease.acquireLease(1),
      () => lease.acquireLease(LEASE_S),
      () => target.getBlobLeaseClient(B).acquireLease(LEASE_S),
      () => target.getBlobLeaseClient(B).renewLease(),
      () => target.upload('body', 4),
      () => lease.renewLease(),
      () => target.getBlobLeaseClient(A).changeLease(B),
      () => target.getBlobLeaseClient(B).breakLease(0),
      () => target.getBlobLeaseClient(B).releaseLease(),
      () => target.delete(),
      () => target.delete(),
      () => target.getProperties(),
      () => target.download(),
      () => client.create(),
      () => client.create(),
      () => client.getProperties(),
      () => client.getAccountInfo(),
      async () => (await client.listBlobsFlat({ includeMetadata: true }).byPage().next()).value,
      () => client.delete(),
      async () => (await client.listBlobsFlat().byPage().next()).value,
      async () => (await account.service()).getProperties(),
    ]
    const statuses: number[] = []
    for (const [at, send] of requests.entries()) {
      const answer: RawAnswer = await send().then(
        ({ _response }) => _response,
        error => error.response ?? Promise.reject(new Error(`request ${at + 1}`, { cause: error })),
      )
      statuses.push(answer.status)
      expect(answerProblem(answer), `request ${at + 1}`).toBeUndefined()
    }
    expect(new Set(statuses)).toEqual(new Set([200, 201, 202, 206, 400, 404, 409, 412]))
  })

  it('startFrom begins a listing at a name, that name included', async () => {
    const folder = randomUUID()
    for (const name of ['a', 'b', 'c']) await container.getBlockBlobClient(`${folder}/${name}`).upload('', 0)
    const names: string[] = []
    for await (const item of container.listBlobsFlat({ prefix: `${folder}/`, startFrom: `${folder}/b` }))
      names.push(item.name)
    expect(names).toEqual([`${folder}/b`, `${folder}/c`])
  })

  it('a listing is in the order of UTF-16 code units, and continues so from page to page after startFrom', async () => {
    const folder = randomUUID()
    const sorted = ['A', 'a', 'a b', 'a-b', 'a/b', 'a0', 'é', '日', '😀', 'ﬀ'].map(name => `${folder}/${name}`)
    for (const name of sorted.toReversed()) await container.getBlockBlobClient(name).upload('', 0)
    const names: string[] = []
    const options = { prefix: `${folder}/`, startFrom: `${folder}/a-` }
    for await (const page of container.listBlobsFlat(options).byPage({ maxPageSize: 2 }))
      names.push(...page.segment.blobItems.map(item => item.name))
    expect(names).toEqual(sorted.slice(3))
    expect(sorted).toEqual(sorted.toSorted())
  })
})

describe('an append blob', () => {
  const appendBlob = async () => {
    const client = container.getAppendBlobClient(`log/${randomUUID()}`)
    await client.create({ conditions: { ifNoneMatch: '*' } })
    return client
  }
  const codeOf = (request: Promise<unknown>) =>
    request.then(
      () => 'done',
      error => ServiceError.of(error).code,
    )

  it('takes blocks one after the other, and tells how many it has', async () => {
    const client = await appendBlob()
    const counts: (number | undefined)[] = []
    for (const line of ['1\n', '2\n']) counts.push((await client.appendBlock(line, 2)).blobCommittedBlockCount)
    expect(counts).toEqual([1, 2])
    expect((await client.downloadToBuffer()).toString()).toBe('1\n2\n')
    expect(await codeOf(client.create({ conditions: { ifNoneMatch: '*' } }))).toBe('BlobAlreadyExists')
  })

  it('takes no block under a lease without its id, nor any that is missing; the id may be acquired again', async () => {
    const client = await appendBlob()
    for (const _ of [1, 2]) await client.getBlobLeaseClient(A).acquireLease(-1)
    expect(await codeOf(client.appendBlock('1\n', 2))).toBe('LeaseIdMissing')
    expect(await codeOf(client.delete())).toBe('LeaseIdMissing')
    await client.delete({ conditions: { leaseId: A } })
    expect(await codeOf(client.appendBlock('1\n', 2))).toBe('BlobNotFound')
  })

  it('has no range at its end, and cannot be deleted with the id of a lease that it does not have', async () => {
    const client = await appendBlob()
    await client.appendBlock('1\n', 2)
    // Azurite answers with no bytes.
    expect(await codeOf(client.download(2, 10))).toBe(account.isEmulator ? 'done' : 'InvalidRange')
    expect(await codeOf(client.delete({ conditions: { leaseId: A } }))).toBe('LeaseNotPresentWithBlobOperation')
  })
})

describeCells(
  'each operation after the end of a lease',
  cells.filter(({ state }) => slow(state)),
)
describeForeignWrites(['expired'])
