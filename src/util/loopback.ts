/** Whether a host, as URLs, addresses of stores and sockets have it, is this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|\[?::1\]?|(::ffff:)?127(\.\d+){1,3})$/.test(host)
}
