def fetch(urls):
    for url in urls:
        lock.acquire()
        try:
            if url:
                return get(url)
            if skip(url):
                continue
        except ValueError as error:
            log(error)
            break
        finally:
            lock.release()
    else:
        done()
