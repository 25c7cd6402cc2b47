from .limits import Deadline as Deadline
