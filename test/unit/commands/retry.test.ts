import { expect, test } from 'vitest'
import { register } from '../../../src/commands/retry.ts'
import { run } from '../ops/support.ts'
import { before, linesOf, runFileOf } from './batch/support.ts'
import { cli, json, newWorld, optionsFrom, statuses } from './support.ts'

test('argv → options', async () => {
  expect(await optionsFrom(register, ['retry', 'a', '-e', '01.00', '-m', 'again'])).toEqual({
    names: ['a'],
    event: ['01.00'],
    reason: 'again',
  })
})

test('without -e all failed leaves are retried in one transaction', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B,C'])
  for (const id of ['01.00', '02.00']) await cli(world, ['event', 'fail', 's', id])
  const ran = await cli(world, ['retry', 's', '-o', 'json'])
  expect(ran.exit).toBe(0)
  expect(json(ran.stdout)).toMatchObject({ event: null, version: 4, outcome: 'done' })
  expect(await statuses(world, 's')).toEqual({ '00': 'inprocess', '01.00': 'init', '02.00': 'init', '03.00': 'init' })
})

test('a stream without a failure is refused, exit 5, and unchanged', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  const ran = await cli(world, ['retry', 's', '-e', '01.00'])
  expect(ran).toMatchObject({ exit: 5, stdout: '' })
  expect(ran.stderr).toContain('[not-failed]')
})

/** `ran`: its join has used the failed branch. `half`: one of two failures can be retried. `gone`: canceled. */
async function mixed() {
  const world = newWorld()
  const join = { name: 'Done' }
  for (const name of ['ran', 'half', 'gone', 'open', 'shut']) await cli(world, ['init', name, '--fork', 'A,B'])
  for (const name of ['ran', 'half']) {
    await run(world.store, name, { op: 'advance', event: '01.00', forks: [{ name: 'A1' }, { name: 'A2' }], join })
    await run(world.store, name, { op: 'fail', event: '01.01.00' })
    await run(world.store, name, { op: 'complete', event: '01.02.00' })
    await run(world.store, name, { op: 'complete', event: '01.01' })
  }
  await run(world.store, 'half', { op: 'fail', event: '02.00' })
  await run(world.store, 'shut', { op: 'fail', event: '02.00' })
  await cli(world, ['cancel', 'gone', '-m', 'withdrawn'])
  return world
}

test('the preview promises only what will be retried, and says what is left out and why', async () => {
  const world = await mixed()
  const preview = await cli(world, ['retry', '--all', '--dry-run', '-o', 'json'])
  expect(json(preview.stdout)).toMatchObject({
    items: [
      { stream: 'half', refused: [{ event: '01.01.00', code: 'join-ran' }] },
      { stream: 'shut', refused: [] },
    ],
    streams: 2,
    leftOut: 3,
    leftOutBecause: { 'canceled (needs --canceled)': 1, 'without a failure': 1, 'refused (join-ran)': 1 },
  })
  expect(preview.stderr).toContain('2 streams: 1 with errors, 1 failing; 1 event not retried (1 join-ran); ')
  expect(preview.stderr).toContain(
    '; 1 canceled (needs --canceled), 1 without a failure, 1 refused (join-ran), left out.',
  )
  const ran = await cli(world, ['retry', '--all', '--yes', '-o', 'json'])
  expect(ran.exit).toBe(0)
  expect(json(ran.stdout)).toMatchObject({ counts: { done: 2 }, leftOut: 3 })
})

test('a named stream that would be refused is shown as not tried, and repeating it is not offered', async () => {
  const world = await mixed()
  const preview = await cli(world, ['retry', 'ran', 'shut', '--dry-run'])
  expect(preview.stdout).toMatch(/^ran .*join-ran$/m)
  expect(preview.stderr).toContain('1 stream: 1 failing; 1 not tried')
  const ran = await cli(world, ['retry', 'ran', 'shut', '-o', 'json'])
  expect(ran.exit).toBe(7)
  expect(json(ran.stdout)).toMatchObject({ counts: { done: 1, refused: 1 } })
  expect(ran.stdout + ran.stderr).not.toContain('trial')
  expect(ran.stderr).toContain('"retryable":false')
  expect(ran.stderr).not.toContain('--rerun')
})

test('--canceled reopens what was canceled on request, and its run file keeps that', async () => {
  const world = await mixed()
  const refused = await cli(world, ['retry', 'gone'])
  expect(refused).toMatchObject({ exit: 5 })
  expect(refused.stderr).toContain('[canceled]')
  await cli(world, ['init', 'also', '--fork', 'A,B'])
  await cli(world, ['cancel', 'also'])
  const store = before(world.store, 'update', name => (name === 'gone' ? Promise.reject(new Error('no')) : undefined))
  const ran = await cli(world, ['retry', 'gone', 'also', '--canceled'], { store })
  expect(ran.exit).toBe(7)
  expect(await statuses(world, 'also')).toMatchObject({ '00': 'inprocess', '01.00': 'init' })
  const file = runFileOf(ran)
  expect(linesOf(file)[0]).toMatchObject({ record: 'run', canceled: true })
  const both = await cli(world, ['retry', '--rerun', file, '--canceled'])
  expect(both.stderr).toContain('--rerun and --canceled do not go together')
  const rest = await cli(world, ['retry', '--rerun', file, '--yes'])
  expect(rest.exit).toBe(0)
  expect(await statuses(world, 'gone')).toMatchObject({ '00': 'inprocess', '01.00': 'init' })
})

test('the changed events are listed by id', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  await cli(world, ['abort', 's'])
  await run(world.store, 's', { op: 'retry', event: '02.00' })
  await cli(world, ['abort', 's'])
  const ran = await cli(world, ['retry', 's', '--canceled'])
  expect(ran.stdout.match(/^ +\d\S*/gm)?.map(id => id.trim())).toEqual(['00', '01.00', '02.00'])
})
