def run(x, (a, b)):
    try:
        print >>err, "x", x
        print "done"
        exec code
    except IOError, e:
        raise ValueError, "bad"
    except (KeyError, OSError):
        try:
            retry()
        except ValueError:
            pass
        raise
    return 0777 + 10L
