import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type ProbeStep, probeStore } from '../../../../src/ops/doctor/probe.ts'
import { ContainerMissing, NotPermitted, StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { BadDocument } from '../../../../src/stream/errors.ts'
import { init, memoryStore, run } from '../support.ts'

/** The memory store with some methods replaced; it records the names it was told to create. */
function storeWith(methods: Partial<StreamStore>): { store: StreamStore; created: string[]; inner: StreamStore } {
  const { store: inner } = memoryStore()
  const created: string[] = []
  const store = new Proxy(inner, {
    get(target, key) {
      if (key === 'create' && methods.create === undefined) {
        const create: StreamStore['create'] = (name, ...rest) => {
          created.push(name)
          return target.create(name, ...rest)
        }
        return create
      }
      const value: unknown = Reflect.get(methods, key) ?? Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { store, created, inner }
}

const probe = (store: StreamStore, more: { write?: boolean; signal?: AbortSignal } = {}) =>
  probeStore(store, { write: true, newId: randomUUID, actor: 'ada@here', ...more })

const outcomes = (steps: readonly ProbeStep[]) => Object.fromEntries(steps.map(({ name, outcome }) => [name, outcome]))
const step = (steps: readonly ProbeStep[], name: string) => steps.find(one => one.name === name)
const forbidden = (code = 'AuthorizationPermissionMismatch') =>
  new NotPermitted('no access', { serviceCode: code, hint: 'the usual hint' })

test('all steps pass in order, and nothing remains', async () => {
  const { store, created, inner } = storeWith({})
  const steps = await probe(store)
  expect(steps.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
    'list ok',
    'read ok',
    'create ok',
    'lease ok',
    'write ok',
    'release ok',
    'remove ok',
  ])
  expect(created).toEqual([expect.stringMatching(/^\.leasectl\/probe\/[0-9a-f-]{36}$/)])
  expect(await inner.read(created[0] ?? '')).toBeUndefined()
})

test('without write nothing is written', async () => {
  const { store, created } = storeWith({})
  expect(outcomes(await probe(store, { write: false }))).toEqual({ list: 'ok', read: 'ok' })
  expect(created).toEqual([])
})

test('a missing permission is named, with the role and the letter of a SAS; the other steps run anyway', async () => {
  const { store } = storeWith({
    // biome-ignore lint/correctness/useYield: it fails before its first page
    async *list() {
      throw forbidden()
    },
    remove: async () => {
      throw forbidden()
    },
  })
  const steps = await probe(store)
  expect(outcomes(steps)).toMatchObject({ list: 'refused', read: 'ok', release: 'ok', remove: 'refused' })
  expect(step(steps, 'list')).toMatchObject({
    code: 'not-permitted',
    hint: expect.stringMatching(/Reader.* permission l/),
  })
  expect(step(steps, 'remove')).toMatchObject({ hint: expect.stringMatching(/Contributor.* permission d/) })
})

test('a wrong credential keeps the hint of the store', async () => {
  const { store } = storeWith({
    read: async () => {
      throw forbidden('AuthenticationFailed')
    },
  })
  expect(step(await probe(store), 'read')).toMatchObject({ outcome: 'refused', hint: 'the usual hint' })
})

test('a probe that cannot be created is neither leased nor removed', async () => {
  const { store } = storeWith({
    create: async () => {
      throw forbidden()
    },
    remove: async () => {
      throw new Error('nobody asked for this')
    },
  })
  expect(outcomes(await probe(store))).toEqual({
    list: 'ok',
    read: 'ok',
    create: 'refused',
    lease: 'skipped',
    write: 'skipped',
    release: 'skipped',
    remove: 'skipped',
  })
})

test.each([
  ['unreachable', () => new StoreUnreachable('no answer')],
  ['without its container', () => new ContainerMissing('none')],
])('a store that is %s gets one request, not seven', async (_, fault) => {
  let asked = 0
  const fails = async () => {
    asked++
    throw fault()
  }
  const { store } = storeWith({
    // biome-ignore lint/correctness/useYield: it fails before its first page
    async *list() {
      await fails()
    },
    read: fails,
    create: fails,
  })
  const steps = await probe(store)
  expect(outcomes(steps)).toMatchObject({ list: 'failed', read: 'skipped', create: 'skipped', remove: 'skipped' })
  expect(asked).toBe(1)
})

test.each([
  ['lease', { acquireLease: async () => ({ kind: 'unknown', cause: 'silence' }) as const }],
  ['write', { update: async () => ({ kind: 'lost', code: 'LeaseLost' }) as const }],
  ['release', { releaseLease: async () => ({ kind: 'unknown', cause: 'silence' }) as const }],
])('a %s that fails is reported, and the probe is removed anyway', async (name, methods) => {
  const { store, created, inner } = storeWith(methods)
  const steps = await probe(store)
  expect(step(steps, name)).toMatchObject({ outcome: 'failed', code: expect.any(String), message: expect.any(String) })
  expect(outcomes(steps)).toMatchObject({ remove: 'ok' })
  expect(await inner.read(created[0] ?? '')).toBeUndefined()
})

test('a probe created without an answer is removed: it may have landed', async () => {
  let inner: StreamStore | undefined
  let name = ''
  const made = storeWith({
    create: async (...args) => {
      name = args[0]
      await inner?.create(...args)
      return { kind: 'unknown', cause: 'silence' }
    },
  })
  inner = made.inner
  expect(outcomes(await probe(made.store))).toMatchObject({ create: 'failed', lease: 'skipped', remove: 'ok' })
  expect(name).not.toBe('')
  expect(await inner.read(name)).toBeUndefined()
})

test.each(['acquireLease', 'update', 'releaseLease'] as const)(
  'an interrupt during %s removes the probe and then stops',
  async method => {
    const interruption = new AbortController()
    const { store, created, inner } = storeWith({
      [method]: async () => {
        interruption.abort('SIGINT')
        interruption.signal.throwIfAborted()
      },
    })
    await expect(probe(store, { signal: interruption.signal })).rejects.toBe('SIGINT')
    expect(created).toHaveLength(1)
    expect(await inner.read(created[0] ?? '')).toBeUndefined()
  },
)

test('only a missing answer means that the store is unreachable; every other outcome is a failed probe', async () => {
  const silent = storeWith({ acquireLease: async () => ({ kind: 'unknown', cause: 'silence' }) })
  expect(step(await probe(silent.store), 'lease')).toMatchObject({ code: 'store-unreachable' })
  const held = storeWith({ acquireLease: async () => ({ kind: 'held', lease: { state: 'leased' } }) })
  expect(step(await probe(held.store), 'lease')).toMatchObject({ code: 'probe-failed' })
})

test('a bug is not reported as an error of the store', async () => {
  const { store } = storeWith({
    read: async () => {
      throw new TypeError('x is not a function')
    },
  })
  await expect(probe(store)).rejects.toBeInstanceOf(TypeError)
})

test('a store whose first stream cannot be read can be read', async () => {
  const { store, inner } = storeWith({
    read: async name => {
      if (name.startsWith('.leasectl/')) return inner.read(name)
      throw new BadDocument('it is archived', undefined, undefined, name)
    },
  })
  await run(inner, 'a', init(['A']))
  expect(step(await probe(store, { write: false }), 'read')).toMatchObject({ outcome: 'ok' })
})
