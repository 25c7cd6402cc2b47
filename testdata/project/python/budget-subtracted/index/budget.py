class Budget:
    def __init__(self, tries):
        self.left = tries

    def take(self):
        if self.left == 0:
            return False
        self.left -= 1
        return True
