import { describe, expect, test } from 'vitest'
import { cli, newWorld, type World } from '../support.ts'

interface Group {
  readonly group: string
  readonly count: number
  readonly select: readonly string[] | null
}

/** Messages of failures that are easily taken for each other. */
const MESSAGES = [
  'order 1: timeout',
  'order 22: timeout',
  'Order 3: TIMEOUT',
  'order a4: timeout',
  'timeout',
  'the timeout of order 5',
  'HTTP 503',
  'HTTP 504',
  "can't open /a.b (x) [1] {y} a|b $5 ^ \\d+?",
  'order #: timeout',
  'no message',
  '',
]

/** Streams of all statuses, whose events are ready, running and abandoned, and one with more of them than fit a summary. */
async function fleet(): Promise<World> {
  const world = newWorld()
  const does = async (line: string, ...more: readonly string[]) => {
    const ran = await cli(world, [...line.split(' '), ...more])
    if (ran.exit !== 0) throw new Error(ran.stderr)
  }
  for (const [at, message] of MESSAGES.entries()) {
    await does(`init failed/${at} --root ${at % 3 === 0 ? 'Order' : 'Return'} --fork Pay,Ship --topic ${at % 2}`)
    await does(`event fail failed/${at} 01.00`, ...(message === '' ? [] : ['-m', message]))
  }
  await does('init canceled --root Order --fork Pay,Ship')
  await does('cancel canceled -m timeout')
  await does('init part --root Order --fork Pay,Ship')
  await does('cancel part -e 01.00 -m timeout')
  await does('init acknowledged --root Order --fork Pay,Ship')
  await does('event fail acknowledged 01.00 -m timeout')
  await does('init errors --root Order --fork Pay')
  await does('event fail errors 01.00 -m timeout')
  await does('init success --root Order')
  await does('event complete success 00')
  await does('init aborted --root Order --topic eu')
  await does('abort aborted -m timeout')
  await does('init held --root Order --hold')
  await does(`init big --root Import --fork ${Array.from({ length: 150 }, (_, at) => `Part${at}`).join(',')}`)
  for (const at of Array.from({ length: 100 }, (_, at) => String(at + 1).padStart(2, '0')))
    await does(`event start big ${at}.00 --owner importer-${Number(at) % 9} --claim 10m -q`)
  for (const [at, owner] of ['w1', 'w2', 'w3'].entries()) {
    await does(`init work/${at} --root Order --fork Pay,Ship,Pay`)
    await does(`event start work/${at} 01.00 --owner ${owner} --claim ${at === 0 ? '5m' : '10s'} -q`)
    if (at < 2) await does(`event start work/${at} 02.00 --owner w2 --claim ${at === 1 ? '5m' : '10s'} -q`)
  }
  world.nowMs += 60_000
  return world
}

const world = fleet()

async function groups(by: string, ...filters: readonly string[]): Promise<readonly Group[]> {
  const ran = await cli(await world, ['ls', '--group-by', by, ...filters, '-o', 'json'])
  expect(ran.exit, ran.stderr).toBe(0)
  return (JSON.parse(ran.stdout) as { items: Group[] }).items
}

async function names(...filters: readonly string[]): Promise<readonly string[]> {
  const ran = await cli(await world, ['ls', '-o', 'name', ...filters])
  expect(ran.exit, `${filters.join(' ')}: ${ran.stderr}`).toBe(0)
  return ran.stdout.split('\n').filter(name => name !== '')
}

/** The streams of each group: those that make the same group alone. */
async function members(by: string, filters: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  for (const name of await names(...filters)) {
    for (const { group } of await groups(by, ...filters, '--match', name)) {
      const key = group.toLowerCase()
      found.set(key, [...(found.get(key) ?? []), name])
    }
  }
  return found
}

const FILTERS: readonly (readonly string[])[] = [
  [],
  ['--failed'],
  ['--canceled'],
  ['--abandoned', '--since', '1h'],
  ['--owner=w2'],
  ['--owner', 'w1', '--owner', 'w3'],
  ['--waiting-on', 'Pay', '--waiting-on', 'Part7'],
  ['--event-state', 'running,abandoned'],
  ['--root', 'Order', '--root', 'Return', '--not-match', 'failed/0'],
  ['--status', 'completed,inprocess', '--topic', '1'],
]

describe.each(['status', 'failure', 'waiting-on', 'root', 'topic', 'owner'])(
  'the selection of a group by %s selects exactly its streams',
  by => {
    test.each(FILTERS)('with the filters %s %s %s %s', async (...given) => {
      const filters = given.filter(word => word !== undefined)
      const expected = await members(by, filters)
      for (const { group, count, select } of await groups(by, ...filters)) {
        if (select === null) expect(['no topic', 'no owner']).toContain(group)
        else
          expect({ group, names: await names(...select) }).toEqual({ group, names: expected.get(group.toLowerCase()) })
        expect(expected.get(group.toLowerCase())).toHaveLength(count)
      }
    })
  },
)

test('the groups of the fleet differ in what they tell apart', async () => {
  expect((await groups('failure')).map(({ group }) => group)).toHaveLength(8)
  const states = (await groups('waiting-on', '--match', 'work/*')).map(({ group, count }) => [group, count])
  expect(states).toEqual([
    ['Order: Pay ready', 3],
    ['Order: Pay abandoned', 2],
    ['Order: Pay running', 1],
    ['Order: Ship abandoned', 1],
    ['Order: Ship ready', 1],
    ['Order: Ship running', 1],
  ])
  expect(await groups('waiting-on', '--match', 'big')).toHaveLength(150)
})

test('a group by failure has no selection if the given --failure matches only some of its messages', async () => {
  expect(await groups('failure', '--failure', 'order 22')).toMatchObject([{ group: 'order #: timeout', select: null }])
  const [group] = await groups('failure', '--failure', 'order #')
  expect(group?.select).toEqual(['--failure', '/^order #: timeout$/'])
})

test('streams of groups beyond the limit have no selection', async () => {
  const { groupSelection } = await import('../../../../src/commands/ls/group-selection.ts')
  const others = { group: 'others', others: true, count: 1, overdue: 0, abandoned: 0, failed: 0, example: 'a' } as const
  expect(groupSelection('root', {}, [])({ ...others, oldestMs: 0, newestMs: 0 })).toBeUndefined()
})
