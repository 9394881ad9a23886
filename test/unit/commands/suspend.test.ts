import { describe, expect, test } from 'vitest'
import { register as registerResume } from '../../../src/commands/resume.ts'
import { register } from '../../../src/commands/suspend.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { runFileOf } from './batch/support.ts'
import { cli, json, newWorld, optionsFrom, type World } from './support.ts'

async function started(...names: string[]): Promise<World> {
  const world = newWorld()
  for (const name of names) await cli(world, ['init', name, '--root', 'Order', '--fork', 'A,B', '--timeout', '1h'])
  return world
}

const fenceOf = async (world: World, stream: string) =>
  (await cli(world, ['event', 'start', stream, '01.00', '--owner', 'w1', '-q'])).stdout.trim()

test('argv → options', async () => {
  const suspended = await optionsFrom(register, ['suspend', 'a', 'b', '-m', 'why', '--stop', '--command-id', 'c'])
  expect(suspended).toEqual({ names: ['a', 'b'], reason: 'why', stop: true, commandId: 'c' })
  expect(await optionsFrom(registerResume, ['resume', '--suspended', '--yes'])).toEqual({
    names: [],
    suspended: true,
    yes: true,
  })
})

describe('suspend', () => {
  test('stops the beginning of events, and says who, since when and why', async () => {
    const world = await started('s')
    const ran = await cli(world, ['suspend', 's', '-m', 'gateway down', '--by', 'ana'])
    expect(ran).toMatchObject({ exit: 0, stderr: '', stdout: '✓ s  suspended  v2\n' })
    const refused = await cli(world, ['event', 'start', 's', '01.00', '--owner', 'w'])
    expect(refused.exit).toBe(5)
    expect(refused.stderr).toContain('suspended by ana since')
    expect(refused.stderr).toContain('gateway down')
    expect(refused.stderr).toContain('[suspended]')
  })

  test('again says already so, and the same command id that it was done before', async () => {
    const world = await started('s')
    await cli(world, ['suspend', 's', '-m', 'one', '--command-id', 'c1'])
    expect((await cli(world, ['suspend', 's', '-m', 'one', '--command-id', 'c1'])).stdout).toContain('done before')
    expect((await cli(world, ['suspend', 's', '-m', 'two'])).stdout).toContain('already so')
    expect((await cli(world, ['show', 's'])).stdout).toContain(': one')
  })

  test('--stop hands back what is claimed, and the heartbeat of its worker is refused', async () => {
    const world = await started('s')
    const fence = await fenceOf(world, 's')
    const ran = await cli(world, ['suspend', 's', '-m', 'wrong', '--stop'])
    expect(ran.stdout).toContain('01.00  inprocess → ○ init')
    const beat = await cli(world, ['event', 'touch', 's', '01.00', '--fence', fence])
    expect(beat.exit).toBe(5)
    expect(beat.stderr).toContain('01.00 was handed back: stop working on it')
  })

  test('needs a reason', async () => {
    const ran = await cli(await started('s'), ['suspend', 's'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('suspend needs a reason')
  })

  test('a final stream is refused, an absent one not found, an event is no stream', async () => {
    const world = await started('s')
    await cli(world, ['cancel', 's'])
    expect(await cli(world, ['suspend', 's', '-m', 'x'])).toMatchObject({ exit: 5 })
    expect(await cli(world, ['suspend', 'absent', '-m', 'x'])).toMatchObject({ exit: 3 })
    expect(await cli(world, ['suspend', 's', '-e', '01.00', '-m', 'x'])).toMatchObject({ exit: 2 })
  })

  test('a selection leaves out final and suspended streams, and --rerun keeps --stop', async () => {
    const world = await started('a', 'b', 'c', 'd')
    await cli(world, ['cancel', 'c'])
    await cli(world, ['suspend', 'd', '-m', 'before'])
    await fenceOf(world, 'b')
    const ran = await cli(world, ['suspend', '--all', '-m', 'x', '--stop', '--yes'])
    expect(ran.stdout).toContain('suspended, 1 handed back')
    expect(ran.stderr).toContain('1 already final, left out')
    await cli(world, ['resume', 'b'])
    await fenceOf(world, 'b')
    await cli(world, ['suspend', '--rerun', runFileOf(ran), '--only', 'done', '--yes', '-o', 'json'])
    const again = json((await cli(world, ['suspend', '--all', '-m', 'x', '--dry-run', '-o', 'json'])).stdout)
    expect(again).toMatchObject({ leftOutBecause: { 'already final': 1, 'already suspended': 2 } })
  })
})

test('a change of a suspended stream says that nothing begins before resume', async () => {
  const world = newWorld()
  const note = 'suspended: nothing of it begins before resume'
  await cli(world, ['init', 's', '--on-failure', 'compensate', '--steps', 'A,B', '--undo', 'UndoA'])
  await cli(world, ['event', 'complete', 's', '01.00'])
  expect((await cli(world, ['suspend', 's', '-m', 'x'])).stdout).not.toContain(note)
  const ended = await cli(world, ['abort', 's', '-m', 'give up', '-o', 'json'])
  expect(json(ended.stdout)).toMatchObject({ done: false, suspended: true })
  await cli(world, ['resume', 's'])
  await cli(world, ['suspend', 's', '-m', 'again'])
  const last = await cli(world, ['event', 'complete', 's', '02.01.00'])
  expect(last.stdout).toContain('the stream is done')
  expect(last.stdout).not.toContain(note)
  await cli(world, ['init', 't', '--steps', 'A,B'])
  await cli(world, ['suspend', 't', '-m', 'x'])
  expect((await cli(world, ['event', 'complete', 't', '01.00'])).stdout).toContain(`\n    ${note}\n`)
  expect((await cli(world, ['event', 'set', 't', '01.01', '--tag', 'x'])).stdout).toContain(note)
})

describe('resume', () => {
  test('lets it go on, and a second one is already so', async () => {
    const world = await started('s')
    await cli(world, ['suspend', 's', '-m', 'x'])
    expect((await cli(world, ['resume', 's', '-m', 'it is back'])).stdout).toBe('✓ s  resumed  v3\n')
    expect((await cli(world, ['resume', 's'])).stdout).toContain('already so')
    expect(await fenceOf(world, 's')).toBe('4')
  })

  test('of a stream that was never suspended is refused', async () => {
    const ran = await cli(await started('s'), ['resume', 's'])
    expect(ran.exit).toBe(5)
    expect(ran.stderr).toContain('[not-suspended]')
  })

  test('of a stream that was suspended while it was held says that it is held again', async () => {
    const world = newWorld()
    await cli(world, ['init', 'h', '--hold', '--fork', 'A'])
    await cli(world, ['suspend', 'h', '-m', 'x'])
    expect((await cli(world, ['resume', 'h'])).stdout).toContain('resumed: held as before, resume again begins it')
    expect((await cli(world, ['resume', 'h'])).stdout).toBe('✓ h  resumed  v4\n    00  init → ▶ inprocess\n')
  })

  test('lets a held stream begin; filters leave it out unless asked for', async () => {
    const world = newWorld()
    for (const name of ['h', 'i']) await cli(world, ['init', name, '--hold', '--fork', 'A'])
    expect((await cli(world, ['resume', 'h'])).stdout).toContain('00  init → ▶ inprocess')
    const dry = json((await cli(world, ['resume', '--all', '--dry-run', '-o', 'json'])).stdout)
    expect(dry).toMatchObject({ leftOutBecause: { 'not suspended': 1, 'held (needs --event-state held)': 1 } })
    const held = json((await cli(world, ['resume', '--event-state', 'held', '--dry-run', '-o', 'json'])).stdout)
    expect(held).toMatchObject({ streams: 1 })
  })
})

describe('listings', () => {
  test('ls shows the state, who suspended it and why, and --suspended selects it', async () => {
    const world = await started('a', 'b')
    await cli(world, ['suspend', 'a', '-m', 'gateway down', '--by', 'ana'])
    world.nowMs += 5 * 60_000
    expect((await cli(world, ['ls', '--suspended', '-o', 'name'])).stdout).toBe('a\n')
    expect((await cli(world, ['ls'])).stdout).toContain('‖ suspended')
    expect((await cli(world, ['ls', '--fields', 'name,state,suspended'])).stdout).toContain(
      'gateway down (ana, 5m ago)',
    )
    const listed = json((await cli(world, ['ls', '-o', 'json'])).stdout) as { items: object[] }
    expect(listed.items).toMatchObject([
      { state: 'suspended', due: null, suspended: { by: 'ana', why: 'gateway down' } },
      { state: 'ready', suspended: null },
    ])
  })

  test('a claim that ran out in a suspended stream is not abandoned, and check stays green', async () => {
    const world = await started('a')
    await cli(world, ['event', 'start', 'a', '01.00', '--owner', 'w1', '--claim', '1m'])
    await cli(world, ['suspend', 'a', '-m', 'x'])
    world.nowMs += 5 * 3_600_000
    const checked = await cli(world, ['check', '--warn-waiting', '1m', '-o', 'json'])
    expect(checked.exit, checked.stderr + checked.stdout).toBe(0)
    expect(json(checked.stdout)).toMatchObject({ streams: { total: 1, suspended: 1 } })
    expect((await cli(world, ['ls', '--abandoned', '-o', 'name'])).stdout).toBe('')
    expect(json((await cli(world, ['show', 'a', '-o', 'json'])).stdout)).toMatchObject({
      suspension: { why: 'x' },
      events: [{ id: '00' }, { id: '01.00', state: 'suspended' }, { id: '02.00', state: 'suspended' }],
    })
    expect((await cli(world, ['ls', '--event-state', 'suspended', '--waiting-on', 'B', '-o', 'name'])).stdout).toBe(
      'a\n',
    )
  })

  test('log and tail tell who suspended and resumed it', async () => {
    const world = await started('a')
    await cli(world, ['suspend', 'a', '-m', 'gateway down', '--by', 'ana'])
    await cli(world, ['resume', 'a', '--by', 'bo'])
    const log = (await cli(world, ['log', 'a'])).stdout
    expect(log).toMatch(/ana +suspend +gateway down/)
    expect(log).toMatch(/bo +resume/)
    expect((await cli(world, ['tail', 'a', '-n', '2'])).stdout).toContain('suspend   ana  "gateway down"')
  })
})

test('doctor reports a suspended stream that a program without suspensions let go on', async () => {
  const world = await started('a')
  await cli(world, ['suspend', 'a', '-m', 'gateway down', '--by', 'ana'])
  const sound = await cli(world, ['doctor', 'a'])
  expect(sound.stdout).toContain('suspended for 0s by "ana": "gateway down"')
  expect(sound.stdout).not.toContain('went on')
  const read: StreamStore['read'] = async name => {
    const stored = await world.store.read(name)
    const text = Buffer.from(stored?.body ?? []).toString('utf8')
    const body = Buffer.from(text.replace('name="A" status="init"', 'name="A" status="completed"'))
    return stored && { ...stored, body }
  }
  const store = new Proxy(world.store, {
    get(target, key) {
      if (key === 'read') return read
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const found = await cli(world, ['doctor', 'a'], { store })
  expect(found.stdout).toContain('another program went on while the stream was suspended: 01.00')
})
