import { describe, expect, test } from 'vitest'
import type { CheckOptions } from '../../../src/commands/check/options.ts'
import { register } from '../../../src/commands/check.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import { given } from './batch/support.ts'
import { storeWith } from './store-with.ts'
import { cli, json, NOON, newWorld, optionsFrom, type Setting } from './support.ts'

/** A healthy store, one with an overdue stream, and one that does not answer. */
async function worlds() {
  const [eu, us, asia] = [newWorld(), newWorld(), newWorld()]
  await given(eu, ['orders/1'])
  us.nowMs = NOON - 3 * 3_600_000
  await cli(us, ['init', 'orders/2', '--timeout', '1h'])
  us.nowMs = NOON
  const away = storeWith(asia.store, {
    // biome-ignore lint/correctness/useYield: it fails before the first page
    async *list() {
      throw new StoreUnreachable('no connection', { hint: 'Is the network up?' })
    },
  })
  const others = { eu: eu.store, us: us.store, asia: away }
  return (line: string, setting: Setting = {}) => cli(newWorld(), line.split(' '), { others, ...setting })
}

describe('check -c A,B', () => {
  test('takes contexts separated by commas, or repeated; one is not a list', async () => {
    const options = (line: string) => optionsFrom<CheckOptions>(register, line.split(' '))
    expect(await options('check -c eu,us')).toMatchObject({ contexts: ['eu', 'us'] })
    expect(await options('check -c eu -c us -c eu')).toMatchObject({ contexts: ['eu', 'us'] })
    expect(await options('check -c eu')).toEqual({ context: 'eu' })
  })

  test('prints the worst store first, names each in lines and labels, and exits with its code', async () => {
    const run = await worlds()
    const { exit, stdout, stderr } = await run('check -c eu,us')
    const [head = '', ...lines] = stdout.trimEnd().split('\n')
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: '' })
    expect(head).toMatch(/^LEASECTL WARNING - us WARNING: 1 overdue .*; eu OK: 1 stream, nothing overdue/)
    expect(head).toMatch(/ \| eu\/overdue=0;1;10;0 .* us\/overdue=1;1;10;0 /)
    expect(lines).toContainEqual(expect.stringMatching(/^us: overdue: orders\/2 for 2h/))
  })

  test('a store that cannot be checked is unknown: worse than a warning, and no reason to hide the others', async () => {
    const run = await worlds()
    const { exit, stdout } = await run('check -c eu,us,asia')
    expect(exit).toBe(3)
    expect(stdout).toMatch(
      /^LEASECTL UNKNOWN - asia UNKNOWN: no connection \[store-unreachable\]; us WARNING: .*; eu OK/,
    )
    expect(stdout).toContain('\nasia: hint: Is the network up?\n')
    expect((await run('check -c asia,us --crit-overdue 1')).exit).toBe(2)
  })

  test('-o json has one item for each store, in the given order', async () => {
    const run = await worlds()
    const { exit, stdout } = await run('check -c asia,us --match orders/* -o json')
    expect(exit).toBe(3)
    expect(json(stdout)).toMatchObject({
      status: 'unknown',
      exit: 3,
      match: 'orders/*',
      items: [
        { context: 'asia', status: 'unknown', tookMs: null, error: { code: 'store-unreachable' } },
        { context: 'us', status: 'warning', streams: { total: 1 }, error: null },
      ],
    })
  })

  test('-o prometheus has each metric once, with the labels of context and store', async () => {
    const run = await worlds()
    const { stdout } = await run('check -c eu,us,asia -o prometheus')
    const lines = stdout.trimEnd().split('\n')
    const head = '# TYPE leasectl_check_status gauge'
    expect(lines.filter(line => line === head)).toHaveLength(1)
    expect(lines.slice(lines.indexOf(head) + 1, lines.indexOf(head) + 4)).toEqual([
      'leasectl_check_status{context="eu",store="azurite:store-eu"} 0',
      'leasectl_check_status{context="us",store="azurite:store-us"} 1',
      'leasectl_check_status{context="asia",store="azurite:store-asia"} 3',
    ])
    expect(stdout).toContain('# unknown: asia: no connection [store-unreachable]')
    const series = lines.filter(line => !line.startsWith('#')).map(line => line.slice(0, line.lastIndexOf(' ')))
    expect(new Set(series).size).toBe(series.length)
  })

  test('does not take --store as well', async () => {
    const run = await worlds()
    const { exit, stdout } = await run('check -c eu,us --store sqlite:x')
    expect({ exit, stdout }).toEqual({ exit: 3, stdout: expect.stringContaining('--store and -c both name a store') })
  })
})
