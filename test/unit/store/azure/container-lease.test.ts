import { afterAll, expect, test } from 'vitest'
import { ContainerMissing } from '../../../../src/store/errors.ts'
import type { ContainerLease } from '../../../../src/store/store.ts'
import { removeContainers, testAccount } from '../../../support/live-store.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'

const account = await testAccount()
const made: string[] = []
afterAll(() => removeContainers(account, made))

async function open() {
  const container = account.newContainer()
  const store = await account.open(container)
  await store.createContainer()
  made.push(container)
  const { containerLease } = store
  if (containerLease === undefined) throw new Error('a container has no lease')
  return { store, container, lease: containerLease satisfies ContainerLease }
}

test('a container is leased, and then cannot be deleted until the lease is released', async () => {
  const { container, lease } = await open()
  const { credential, address } = await account.direct(container)
  const { openContainer } = await import('../../../../src/store/azure/client.ts')
  const { accountUrl } = await import('../../../../src/store/address.ts')
  const { client } = await openContainer(accountUrl(address), address.container, credential)
  expect(lease.container).toBe(container)
  expect(await lease.acquire({ leaseId: ID, durationS: -1 })).toMatchObject({ kind: 'acquired', leaseId: ID })
  expect(await lease.view()).toEqual({ state: 'leased', duration: 'infinite' })
  await expect(client.delete()).rejects.toThrow(/lease/i)
  expect(await lease.release(ID)).toEqual({ kind: 'ok', leaseId: ID })
  expect((await lease.view()).state).toBe('available')
})

test('streams are written beside the lease of their container', async () => {
  const { store, lease } = await open()
  await lease.acquire({ leaseId: ID, durationS: -1 })
  const { given } = await import('../../../contract/harness.ts')
  await given(store, 's', 'body')
  expect(await store.read('s')).toBeDefined()
  await lease.release(ID)
})

test('the lease of a container is renewed and changed by its holder, and lost for every other id', async () => {
  const { lease } = await open()
  await lease.acquire({ leaseId: ID, durationS: 60 })
  expect(await lease.renew(ID)).toEqual({ kind: 'ok', leaseId: ID })
  expect(await lease.renew(OTHER)).toMatchObject({ kind: 'lost' })
  expect(await lease.change(ID, OTHER)).toEqual({ kind: 'ok', leaseId: OTHER })
  expect(await lease.change(ID, OTHER)).toEqual({ kind: 'ok', leaseId: OTHER })
  expect(await lease.acquire({ leaseId: ID, durationS: 15 })).toMatchObject({
    kind: 'held',
    lease: { state: 'leased' },
  })
  expect(await lease.release(ID)).toMatchObject({ kind: 'lost' })
  await lease.release(OTHER)
})

test('the lease of a container is broken without its id', async () => {
  const { lease } = await open()
  expect(await lease.break(0)).toEqual({ kind: 'not-leased' })
  await lease.acquire({ leaseId: ID, durationS: -1 })
  expect(await lease.break(0)).toEqual({ kind: 'broken', remainingS: 0 })
  expect((await lease.view()).state).toBe('broken')
})

test('a container that does not exist has no lease to act on', async () => {
  const store = await account.open(account.newContainer())
  const lease = store.containerLease
  await expect(lease?.view()).rejects.toBeInstanceOf(ContainerMissing)
  await expect(lease?.acquire({ leaseId: ID, durationS: 15 })).rejects.toBeInstanceOf(ContainerMissing)
  await expect(lease?.renew(ID)).rejects.toBeInstanceOf(ContainerMissing)
})
