import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SUPPORTED_NODE, unsupportedNode } from '../../bin/node-version.js'

test.each(['22.22.3', '22.23.0', '24.15.0', '24.21.0', '26.0.0', '27.1.2'])('Node %s runs leasectl', version => {
  expect(unsupportedNode(version)).toBeUndefined()
})

test.each(['0.12.18', '20.20.2', '22.22.2', '22.5.9', '23.11.0', '24.14.1', '25.9.0'])('Node %s does not', version => {
  expect(unsupportedNode(version)).toBe(`leasectl needs Node ${SUPPORTED_NODE}; this is Node ${version}`)
})

test('package.json requires the same versions of Node', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(engines.node).toBe(SUPPORTED_NODE)
})
