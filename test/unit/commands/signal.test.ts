import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/signal.ts'
import { runFileOf } from './batch/support.ts'
import { cli, json, newWorld, optionsFrom, type World } from './support.ts'

async function waiting(...names: string[]): Promise<World> {
  const world = newWorld()
  for (const name of names) {
    await cli(world, ['init', name, '--root', 'Order', '--fork', 'A'])
    await cli(world, ['event', 'advance', name, '01.00', '--next', 'Pay', '--wait-for', 'paid'])
  }
  return world
}

test('argv → options', async () => {
  expect(await optionsFrom(register, ['signal', 'a', 'b', 'paid', '--every', '-m', 'why'])).toEqual({
    ...{ names: ['a', 'b'], signalName: 'paid', every: true, reason: 'why' },
  })
  expect(await optionsFrom(register, ['signal', '--match', 'orders/**', '01.00'])).toMatchObject({
    ...{ names: [], match: ['orders/**'], signalName: '01.00' },
  })
})

describe('signal', () => {
  test('lets the event that waits for it go on, with its data as input', async () => {
    const world = await waiting('s')
    const ran = await cli(world, ['signal', 's', 'paid', '--data', '{"amount":12}', '--by', 'ana'])
    expect(ran).toMatchObject({ exit: 0, stderr: '' })
    expect(ran.stdout).toContain('✓ s  signaled  v3')
    expect(ran.stdout).toContain('01.01  inprocess → ○ init (opened)')
    expect((await cli(world, ['event', 'data', 's', '01.01', '--input'])).stdout).toBe('{"amount":12}')
  })

  test('is kept if no event waits for it, which show lists, until one does', async () => {
    const world = await waiting('s')
    const ran = await cli(world, ['signal', 's', 'picked up', '--by', 'ana', '--data', 'x'])
    expect(ran.stdout).toContain('signaled: kept until an event waits for it')
    expect((await cli(world, ['show', 's'])).stdout).toMatch(
      /Signals kept for events to come\n {2}picked up, .* by ana, text\/plain, 1 B/,
    )
    expect(json((await cli(world, ['show', 's', '-o', 'json'])).stdout)).toMatchObject({
      signals: [{ name: 'picked up', by: 'ana', data: { text: 'x' } }],
    })
    await cli(world, ['event', 'advance', 's', '00', '--more', '--fork', 'Ship', '--wait-for', 'picked up'])
    const shown = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
    expect(shown).toMatchObject({ signals: [] })
    expect((await cli(world, ['event', 'data', 's', '02.00', '--input'])).stdout).toBe('x')
  })

  test('says in JSON whether it was kept', async () => {
    const world = await waiting('s')
    expect(json((await cli(world, ['signal', 's', 'other', '-o', 'json'])).stdout)).toMatchObject({ kept: true })
    expect(json((await cli(world, ['signal', 's', 'paid', '-o', 'json'])).stdout)).toMatchObject({
      ...{ kept: false, opened: ['01.01'] },
    })
  })

  test('with the same command id is given once', async () => {
    const world = await waiting('s')
    await cli(world, ['signal', 's', 'paid', '--command-id', 'c1'])
    expect((await cli(world, ['signal', 's', 'paid', '--command-id', 'c1'])).stdout).toContain('done before')
    expect(json((await cli(world, ['show', 's', '-o', 'json'])).stdout)).toMatchObject({ signals: [] })
  })

  test('is named in log, tail and the history', async () => {
    const world = await waiting('s')
    await cli(world, ['signal', 's', 'paid', '-m', 'bank', '--by', 'ana'])
    expect((await cli(world, ['log', 's', '--op', 'signal'])).stdout).toMatch(/ana +signal paid .*bank/)
    expect((await cli(world, ['log', 's', '--op', 'signal', '-o', 'json'])).stdout).toContain('"signal":"paid"')
    expect((await cli(world, ['tail', 's', '-n', '1'])).stdout).toContain('signal    paid')
  })

  test('needs a name and a stream, and refuses a final or absent one', async () => {
    const world = await waiting('s')
    expect(await cli(world, ['signal'])).toMatchObject({ exit: 2 })
    const alone = await cli(world, ['signal', 's'])
    expect(alone).toMatchObject({ exit: 2, stdout: '' })
    expect(alone.stderr).toContain('which streams?')
    expect(await cli(world, ['signal', 's', ''])).toMatchObject({ exit: 2 })
    expect(await cli(world, ['signal', 's', 'paid', '--data', '@/nowhere'])).toMatchObject({ exit: 2 })
    expect(await cli(world, ['signal', 'absent', 'paid'])).toMatchObject({ exit: 3 })
    await cli(world, ['cancel', 's'])
    const ended = await cli(world, ['signal', 's', 'paid'])
    expect(ended.exit).toBe(5)
    expect(ended.stderr).toContain('[already-final]')
  })

  test('for a selection leaves out final streams, and --rerun knows the signal', async () => {
    const world = await waiting('a', 'b', 'c')
    await cli(world, ['cancel', 'c'])
    const ran = await cli(world, ['signal', '--all', 'paid', '--yes'])
    expect(ran.stdout).toContain('signaled, 1 opened')
    expect(ran.stderr).toContain('1 already final, left out')
    const file = runFileOf(ran)
    const again = await cli(world, ['signal', '--rerun', file, '--only', 'done', '--yes'])
    expect(again).toMatchObject({ exit: 0 })
    expect(again.stdout).toContain('done before')
  })

  test('with data asks for the same data again when it is rerun', async () => {
    const world = await waiting('a', 'b')
    const file = runFileOf(await cli(world, ['signal', '--all', 'paid', '--data', 'x', '--yes']))
    const rerun = ['signal', '--rerun', file, '--only', 'done', '--yes']
    const without = await cli(world, rerun)
    expect(without.exit).toBe(2)
    expect(without.stderr).toContain('Give the same --data again')
    expect(await cli(world, [...rerun, '--data', 'y'])).toMatchObject({ exit: 2 })
    expect(await cli(world, [...rerun, '--data', 'x'])).toMatchObject({ exit: 0 })
  })
})
