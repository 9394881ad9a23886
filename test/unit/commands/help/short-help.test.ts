import { expect, test } from 'vitest'
import { UsageError } from '../../../../src/cli/problem.ts'
import { printShortHelp } from '../../../../src/commands/help/short-help.ts'
import { fakeRuntime, newWorld } from '../support.ts'

test('an invalid store name does not prevent the short help', async () => {
  const { runtime, written } = fakeRuntime(newWorld(), [])
  const broken = async () => {
    throw new UsageError('contexts.json is readable by others (mode 0644)', { hint: 'chmod 600 contexts.json' })
  }
  await printShortHelp({}, { ...runtime, describeStore: broken })
  expect(written.stdout).toContain('Store: unknown: contexts.json is readable by others (mode 0644)')
  expect(written.stdout).toContain('chmod 600 contexts.json')
  expect(written.stdout).toContain('leasectl ls ')
})
