import { expect, test } from 'vitest'
import { listCommand } from '../../../../src/commands/top/list-command.ts'
import { HEALTH_PARTS } from '../../../../src/tui/state/health-parts.ts'
import { cli, newWorld } from '../support.ts'

test.each([
  ['', ''],
  ['orders !done', ' | grep -iF -e orders | grep -ivF -e done'],
  ['"a b" /x|y/ !/z/', " | grep -iF -e 'a b' | grep -iP -e 'x|y' | grep -ivP -e z"],
  ['name:4711', ' | grep -iF -e 4711'],
  ['status:failed', '--failed'],
  ['status:overdue status:inprocess', '--overdue --status inprocess'],
  ['canceled>0 lease: failed>0', '--canceled --locked --acknowledged'],
  ['key=K1 owner=w-7 event=Pay', '--key K1 --owner w-7 --event-name Pay'],
  ['failed:disk failed:/a b/', '--failure disk --failure /a b/'],
  ['changed>12h', '--older-than 12h'],
  ['changed<30m x', '--since 30m | grep -iF -e x'],
  ['!status:failed due<10m a', " | grep -iF -e a  # without '!status:failed' 'due<10m'"],
])('the filter %j is ls with %j', (filter, expected) => {
  const { flags, rest } = listCommand(filter)
  expect(`${flags.join(' ')}${rest}`).toBe(expected)
})

test('ls takes the flags of each number of the header', async () => {
  for (const { word, filter } of HEALTH_PARTS) {
    const { flags } = listCommand(filter)
    if (word !== 'open' && word !== 'unreadable') expect(flags.length).toBeGreaterThan(0)
    expect(await cli(newWorld(), ['ls', ...flags])).toMatchObject({ exit: 0 })
  }
})
