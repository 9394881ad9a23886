import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The least that a server of records does: reads each body and answers 202. Prints its port. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const answer = `{"bytes":${Buffer.concat(chunks).length}}\n`
    response.writeHead(202, { 'content-type': 'application/json', 'content-length': answer.length })
    response.end(answer)
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
process.stdin.resume().on('end', () => process.exit(0))
