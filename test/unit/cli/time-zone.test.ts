import { expect, test } from 'vitest'
import { timeZoneWarning } from '../../../src/cli/time-zone.ts'
import { cli, newWorld } from '../commands/support.ts'

const utc = () => 0

test.each([undefined, '', 'UTC', 'utc', 'Etc/GMT', 'UTC0', 'Africa/Abidjan', ':Africa/Abidjan'])(
  'TZ=%s is a time zone',
  tz => {
    expect(timeZoneWarning(tz, utc)).toBeUndefined()
  },
)

test.each(['Mars/Olympus', 'CET-1CEST', 'Europe/Berlni'])('TZ=%s, read as UTC, is not a time zone', tz => {
  expect(timeZoneWarning(tz, utc)).toBe(`TZ=${tz} is not a time zone: local times are UTC (write TZ=Europe/Berlin)`)
})

test('a zone that the system reads otherwise than as UTC is left to it', () => {
  expect(timeZoneWarning('CET-1CEST', () => -60)).toBeUndefined()
  expect(timeZoneWarning('Europe/Londn', month => (month === 6 ? -60 : 0))).toBeUndefined()
})

test('a control character in TZ does not reach the terminal', () => {
  expect(timeZoneWarning('\u001b[31m', utc)).not.toContain('\u001b')
})

test.skipIf(new Date(2026, 6).getTimezoneOffset() !== 0)('commands that print or read local times warn', async () => {
  const setting = { env: { TZ: 'Mars/Olympus' } }
  const warned = 'TZ=Mars/Olympus is not a time zone'
  for (const line of ['ls --time local', 'ls --since 14:00', 'log --all'])
    expect((await cli(newWorld(), line.split(' '), setting)).stderr).toContain(warned)
  for (const line of ['ls', 'ls --time utc', 'log --all -q', 'log --all -o json'])
    expect((await cli(newWorld(), line.split(' '), setting)).stderr).not.toContain(warned)
})
