import { expect, test } from 'vitest'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { CommandContext } from '../../../../src/tui/ports.ts'
import { init, run } from '../../ops/support.ts'
import { aWatchdog, writeState } from '../../watchdog/state/world.ts'
import { cli, newWorld } from '../support.ts'
import { never, portsOver } from './support.ts'

const SUBJECTS: readonly (readonly [subject: CommandContext, line: string])[] = [
  [{ kind: 'streams', filter: '' }, 'leasectl ls'],
  [{ kind: 'streams', filter: 'orders !done' }, 'leasectl ls | grep -iF -e orders | grep -ivF -e done'],
  [{ kind: 'stream', stream: 'a b', pane: 'tree' }, "leasectl show 'a b'"],
  [{ kind: 'stream', stream: 's', pane: 'timeline' }, 'leasectl show s -o timeline'],
  [{ kind: 'stream', stream: '-s', pane: 'xml' }, 'leasectl show -o xml -- -s'],
  [{ kind: 'event', stream: 's', event: '01.00' }, `leasectl show s --select './Event[@id='\\''01.00'\\'']'`],
  [{ kind: 'leases' }, 'leasectl lease ls'],
  [{ kind: 'watchdog' }, 'leasectl watchdog status'],
  [{ kind: 'activity' }, 'leasectl tail -f'],
]

test.each(SUBJECTS)('%j is shown by %s', async (subject, line) => {
  expect((await portsOver(newWorld())).commandFor(subject)).toBe(line)
})

test('the command includes the pattern of the dashboard, the store and the program as it was started', async () => {
  const ports = await portsOver(newWorld(), { source: 'context', context: 'prod', startedAs: 'npx leasectl' }, [
    '--match',
    'a/**',
  ])
  expect(ports.commandFor({ kind: 'streams', filter: 'x' })).toBe(
    "npx leasectl ls --match 'a/**' -c prod | grep -iF -e x",
  )
  expect(ports.commandFor({ kind: 'activity' })).toBe("npx leasectl tail -f --match 'a/**' -c prod")
})

test('the id of an event is quoted, whatever quotes it has', async () => {
  const world = newWorld()
  await run(world.store, 's', init(['A']))
  const ran = await cli(world, ['show', 's', '--select', "./Event[@id='01.00']", '-o', 'json'])
  expect(ran.exit).toBe(0)
  const line = (await portsOver(world)).commandFor({ kind: 'event', stream: 's', event: `a'b"c` })
  expect(line).toContain('concat(')
})

test('in a protected store the name of its context must be typed, otherwise its address', async () => {
  expect((await portsOver(newWorld(), { isProtected: true, context: 'prod' })).protectedName).toBe('prod')
  expect((await portsOver(newWorld(), { isProtected: true })).protectedName).toBe('memory:')
})

test('errors are shown in one safe line, without secrets', async () => {
  const ports = await portsOver(newWorld())
  expect(ports.explain(new StoreUnreachable('https://x/?sig=abc&se=1 \u001b[2J'))).toEqual({
    code: 'store-unreachable',
    message: 'https://x/?sig=…&se=1 ␛[2J',
  })
  expect(ports.explain(new TypeError('a bug'))).toEqual({ code: 'unexpected', message: 'TypeError: a bug' })
})

test('a dry run of the watchdog shows the decisions of a pass, like the command, and changes nothing', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A', '--timeout', '1m'])
  world.nowMs += 3_600_000
  const before = await world.store.read('s')
  const done = await (await portsOver(world)).dryRun(never)
  expect(done).toMatchObject({ kind: 'done', total: 1, breaker: undefined })
  const told = await cli(world, ['watchdog', '--once', '--dry-run', '-o', 'json'])
  const { items: decisions } = JSON.parse(told.stdout)
  expect(done.decisions).toEqual(
    decisions.map(({ stream, action, event, name, limit, due, ends }: Record<string, string>) => ({
      stream,
      action,
      event,
      name,
      kind: limit,
      dueMs: Date.parse(due ?? ''),
      ends,
    })),
  )
  expect(done.decisions).toMatchObject([{ action: 'abort-stream', event: '00' }])
  expect(await world.store.read('s')).toEqual(before)
})

test('a dry run of the watchdog has the settings of the watchdogs that run', async () => {
  const world = newWorld()
  for (const name of ['a', 'b']) await cli(world, ['init', name, '--fork', 'A', '--timeout', '1m'])
  world.nowMs += 3_600_000
  const settings = { match: 'b', onDue: 'notify', maxPerPass: 1_000, maxShare: 0.2 }
  await writeState(world.store, [aWatchdog(world.nowMs, { writtenMs: world.nowMs, settings })])
  const { decisions } = await (await portsOver(world)).dryRun(never)
  expect(decisions).toMatchObject([{ stream: 'b', action: 'notify' }])
})

test('of very many decisions 1000 are kept and all counted', async () => {
  const world = newWorld()
  for (let at = 0; at < 1_010; at++) await cli(world, ['init', `s/${at}`, '--timeout', '1m'])
  world.nowMs += 3_600_000
  const done = await (await portsOver(world)).dryRun(never)
  expect(done.decisions).toHaveLength(1_000)
  expect(done.total).toBe(1_010)
  expect(done.breaker).toMatch(/1010 of 1010 open events/)
})
