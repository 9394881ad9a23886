import { describe, expect, test } from 'vitest'
import { describeEach } from '../../../../src/cli/several-stores.ts'
import type { LsOptions } from '../../../../src/commands/ls/options.ts'
import { register } from '../../../../src/commands/ls.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { given } from '../batch/support.ts'
import { cli, json, NOON, newWorld, optionsFrom, type Setting } from '../support.ts'

/** A store that does not answer. */
function away(store: StreamStore): StreamStore {
  return new Proxy(store, {
    get: (target, key) =>
      key === 'list'
        ? () => {
            throw new StoreUnreachable('no connection')
          }
        : Reflect.get(target, key),
  })
}

async function worlds() {
  const [eu, us] = [newWorld(), newWorld()]
  await given(eu, ['orders/1', 'orders/3'])
  us.nowMs = NOON - 60_000
  await given(us, ['orders/2'])
  us.nowMs = NOON
  const others = { eu: eu.store, us: us.store }
  const run = (line: string, setting: Setting = {}) => cli(newWorld(), line.split(' '), { others, ...setting })
  return { eu, us, run }
}

const rowsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split(/ {2,}/))

describe('ls -c A,B', () => {
  test('takes contexts separated by commas, or repeated; one is not a list', async () => {
    const options = (line: string) => optionsFrom<LsOptions>(register, line.split(' '))
    expect(await options('ls -c eu,us')).toMatchObject({ contexts: ['eu', 'us'] })
    expect(await options('ls -c eu -c us -c eu')).toMatchObject({ contexts: ['eu', 'us'] })
    expect(await options('ls -c eu')).toMatchObject({ context: 'eu' })
    expect(await options('ls -c eu')).not.toHaveProperty('contexts')
  })

  test('lists the streams of all stores by name, with a column for the store', async () => {
    const { run } = await worlds()
    const { stdout, exit } = await run('ls -c eu,us')
    const [head, ...rows] = rowsOf(stdout)
    expect(exit).toBe(0)
    expect(head?.slice(0, 3)).toEqual(['STORE', 'NAME', 'STATUS'])
    expect(rows.map(row => row.slice(0, 2))).toEqual([
      ['eu', 'orders/1'],
      ['us', 'orders/2'],
      ['eu', 'orders/3'],
    ])
  })

  test('sorts, limits, filters and picks fields over all of them', async () => {
    const { run } = await worlds()
    const { stdout } = await run('ls -c eu,us --sort created --limit 2 --fields name -o json')
    expect(json(stdout)).toMatchObject({
      items: [
        { context: 'us', store: 'memory:', name: 'orders/2' },
        { context: 'eu', store: 'memory:', name: 'orders/1' },
      ],
      total: 3,
      truncated: true,
    })
    const matched = await run('ls -c eu,us --match orders/2 -o ndjson')
    expect(json(matched.stdout)).toMatchObject({ context: 'us', name: 'orders/2' })
    expect(await run('ls -c eu,us --match nix')).toMatchObject({ exit: 0, stderr: 'nothing matches in eu, us\n' })
  })

  test('lists equal names in the order of the contexts', async () => {
    const { eu, us, run } = await worlds()
    await given(eu, ['orders/2'])
    const slow = new Proxy(us.store, {
      get: (target, key) =>
        key === 'list'
          ? async function* (...args: Parameters<StreamStore['list']>) {
              for (let tick = 0; tick < 100; tick++) await Promise.resolve()
              yield* target.list(...args)
            }
          : Reflect.get(target, key),
    })
    const { stdout } = await run('ls -c us,eu --match orders/2', { others: { eu: eu.store, us: slow } })
    expect(rowsOf(stdout).map(([store]) => store)).toEqual(['STORE', 'us', 'eu'])
  })

  test('groups the streams of all of them', async () => {
    const { run } = await worlds()
    const { stdout } = await run('ls -c eu,us --group-by status -o json')
    expect(json(stdout)).toMatchObject({ streams: 3, items: [{ count: 3, example: 'orders/2', exampleContext: 'us' }] })
    const [head, row] = rowsOf((await run('ls -c eu,us --group-by status')).stdout)
    expect([head?.slice(-3), row?.slice(-3)]).toEqual([
      ['STORE', 'EXAMPLE', 'SELECT'],
      ['us', 'orders/2', '--status inprocess'],
    ])
  })

  test('groups only the events that pass the filter, and those that summaries leave out', async () => {
    const { eu, run } = await worlds()
    const many = Array.from({ length: 60 }, (_, at) => `Step${at}`)
    await cli(eu, ['init', 'wide', '--root', 'Order', '--fork', many.join(',')])
    await cli(eu, ['event', 'start', 'wide', '01.00', '--owner', 'w'])
    const groups = async (flags: string) =>
      (json((await run(`ls -c eu,us --group-by waiting-on ${flags} -o json`)).stdout).items as { group: string }[]).map(
        ({ group }) => group,
      )
    expect(await groups('--root Order --event-state running')).toEqual(['Order: Step0 running'])
    expect(await groups('--root Order')).toHaveLength(60)
  })

  test('reports a store that does not answer, shows the others, and exits with 7', async () => {
    const { eu, us, run } = await worlds()
    const others = { eu: away(eu.store), us: us.store }
    const { stdout, stderr, exit } = await run('ls -c eu,us', { others })
    expect(exit).toBe(7)
    expect(rowsOf(stdout).map(row => row.slice(0, 2))).toEqual([
      ['STORE', 'NAME'],
      ['us', 'orders/2'],
    ])
    expect(stderr).toContain('error: eu: no connection')
    expect(stderr).toContain('1 of 2 stores not listed')
    const asJson = await run('ls -c eu,us -o json', { others })
    expect(json(asJson.stdout)).toMatchObject({ items: [{ context: 'us' }], total: null })
    expect(asJson.stderr.trimEnd().split('\n').map(json)).toMatchObject([
      { error: { code: 'store-unreachable', exit: 9 } },
      { error: { code: 'batch-incomplete', exit: 7 } },
    ])
  })

  test.each([
    ['ls -c eu,us -o name', 'several contexts'],
    ['ls -c eu,us -w', 'several contexts'],
    ['ls -c eu,us --store sqlite:x', 'both name a store'],
    ['ls -c eu,', '-c is empty'],
    ['show -c eu,us orders/1', 'It takes one context: only ls, check and top read several.'],
  ])('%s is refused', async (line, message) => {
    const { run } = await worlds()
    expect(await run(line)).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining(message) })
  })
})

test('two contexts of the same store are refused, in whatever form their addresses are written', async () => {
  const addresses: Readonly<Record<string, string>> = {
    eu: 'azurite://127.0.0.1:10000/orders',
    us: 'azurite://127.0.0.1:10000/other',
    again: 'azurite://localhost:10000/orders',
  }
  const runtime = {
    describeStore: async ({ context = '' }) => ({
      address: addresses[context] ?? '',
      source: 'context' as const,
      context,
      isProtected: false,
    }),
  }
  await expect(describeEach(['eu', 'us'], runtime)).resolves.toHaveLength(2)
  await expect(describeEach(['eu', 'us', 'again'], runtime)).rejects.toThrow(
    'the contexts eu and again are the same store: azurite://127.0.0.1:10000/orders',
  )
})
